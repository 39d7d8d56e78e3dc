import type { Cookie, HttpResponseInit } from '@azure/functions';
import { HttpStreamError } from './errors.js';
import type { Format } from './formats.js';

/** Status, headers and cookies of a streamed response; its body is the rows. */
export type RespondInit = Pick<HttpResponseInit, 'status' | 'headers' | 'cookies'>;

/** These have no body whatever the handler says (Fetch, "null body status"). */
const bodiless = new Set([204, 205, 304]);

export function hasBody(method: string, status: number): boolean {
  return method !== 'HEAD' && !bodiless.has(status);
}

/**
 * What the library would only find wrong after the handler has returned, and would then leave the client without any
 * answer, is found here.
 *
 * @throws HttpStreamError `EResponse` naming the value
 */
export function checkInit({ status = 200, cookies }: HttpResponseInit): void {
  if (!Number.isInteger(status) || status < 200 || status > 599) {
    throw new HttpStreamError(
      'EResponse',
      `The status of a response is a number from 200 to 599, not ${status}.`,
    );
  }
  for (const cookie of cookies ?? []) checkCookie(cookie);
}

const token = /^[!#$%&'*+\-.^_`|~\w]+$/;
const hostName = /^\.?[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*$/i;
const cookiePath = /^[\x20-\x3a\x3d-\x7e]*$/;

/** The rules of RFC 6265, 4.1.1, as the library's serializer holds them. */
function checkCookie({ name, value, domain, path, expires, maxAge, sameSite }: Cookie): void {
  const wrong =
    (!token.test(name) && 'name') ||
    (/\p{Surrogate}/u.test(value) && 'value') ||
    (domain && !hostName.test(domain) && 'domain') ||
    (path && !cookiePath.test(path) && 'path') ||
    (expires && Number.isNaN(new Date(expires).getTime()) && 'expires') ||
    (maxAge !== undefined && !Number.isFinite(maxAge) && 'maxAge') ||
    (sameSite && !/^(strict|lax|none)$/i.test(sameSite) && 'sameSite');
  if (wrong) throw new HttpStreamError('EResponse', `The ${wrong} of the cookie '${name}' can't be sent.`);
}

/** The init's headers, with the content type of the format unless there is one, and `Vary: Accept`. */
export function streamHeaders(
  init: RespondInit,
  format: Format,
  length: number | undefined,
): NonNullable<HttpResponseInit['headers']> {
  if (init.headers === undefined) {
    const plain = { 'content-type': format.contentType, vary: 'Accept' };
    return length === undefined ? plain : { ...plain, 'content-length': `${length}` };
  }
  const headers = new Headers(init.headers as ConstructorParameters<typeof Headers>[0]);
  if (!headers.has('content-type')) headers.set('content-type', format.contentType);
  const vary = headers.get('vary') ?? '';
  if (!/(^|,)\s*(\*|accept)\s*(,|$)/i.test(vary)) headers.append('vary', 'Accept');
  if (length === undefined) headers.delete('content-length');
  else headers.set('content-length', `${length}`);
  return headers;
}
