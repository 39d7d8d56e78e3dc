import type { IncomingMessage } from 'node:http';
import type { CorsSettings } from '../config/app-settings.js';
import type { ExtraHeaders } from './respond.js';

/** `Host.CORS` and `Host.CORSCredentials` of local.settings.json, with the answers of Core Tools. */
export class Cors {
  readonly #settings: CorsSettings;
  readonly #anyOrigin: boolean;

  constructor(settings: CorsSettings) {
    this.#settings = settings;
    this.#anyOrigin = settings.origins.includes('*');
  }

  /** Headers for the answer to any request; none when CORS is off or the request comes from no page. */
  headers({ headers }: IncomingMessage): ExtraHeaders {
    const { origin } = headers;
    if (origin === undefined || this.#settings.origins.length === 0) return none;
    const vary = this.#isConstant() ? none : ['Vary', 'Origin'];
    if (!this.#anyOrigin && !this.#settings.origins.includes(origin)) return vary;
    const allowed = ['Access-Control-Allow-Origin', this.#isConstant() ? '*' : origin, ...vary];
    return this.#settings.credentials ? [...allowed, 'Access-Control-Allow-Credentials', 'true'] : allowed;
  }

  /** The answer to a preflight request; undefined when it is none, or CORS is off. */
  preflight(request: IncomingMessage): ExtraHeaders | undefined {
    const { headers, method } = request;
    const wanted = headers['access-control-request-method'];
    if (method !== 'OPTIONS' || wanted === undefined || headers.origin === undefined) return undefined;
    if (this.#settings.origins.length === 0) return undefined;
    const answer = this.headers(request);
    if (!answer.includes('Access-Control-Allow-Origin')) return answer;
    const wantedHeaders = headers['access-control-request-headers'];
    return [
      ...answer,
      'Access-Control-Allow-Methods',
      wanted,
      ...(wantedHeaders === undefined ? [] : ['Access-Control-Allow-Headers', wantedHeaders]),
    ];
  }

  /** A browser takes no `*` together with credentials. */
  #isConstant(): boolean {
    return this.#anyOrigin && !this.#settings.credentials;
  }
}

const none: ExtraHeaders = [];
