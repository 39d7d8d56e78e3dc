import type { IncomingMessage, ServerResponse } from 'node:http';
import { isIP } from 'node:net';
import type { FunctionInfo } from '../function-info.js';
import { hostVersion } from '../protocol.js';
import { respond } from './respond.js';

export interface AdminState {
  readonly state: 'Starting' | 'Running' | 'Stopping' | 'Error';
  readonly functions: readonly FunctionInfo[];
  readonly baseUrl: string;
  readonly startedAt: number;
  readonly workerPid: number;
  /** Further pages below /admin/, by path; what they return, or what it resolves to, is sent as JSON. */
  readonly pages: Readonly<Record<string, () => unknown>>;
}

/**
 * The paths below /admin/, with the answers of Core Tools. They need no key here, so they exist for this machine only.
 *
 * @param path in the letters of the client, without the query
 */
export async function respondAdmin(
  request: IncomingMessage,
  response: ServerResponse,
  path: string,
  state: AdminState,
): Promise<void> {
  const body = isLoopback(request.socket.remoteAddress)
    ? await page(request, path.toLowerCase(), state)
    : undefined;
  if (body === undefined) respond(response, 404);
  else respond(response, 200, ['Content-Type', 'application/json; charset=utf-8'], JSON.stringify(body));
}

function page({ method }: IncomingMessage, path: string, state: AdminState): unknown {
  if (path === '/admin/host/ping') return {};
  if (method !== 'GET' && method !== 'HEAD') return undefined;
  if (path === '/admin/host/status') {
    return {
      id: 'local',
      state: state.state,
      version: hostVersion,
      versionDetails: 'local runtime',
      processUptime: Math.round(performance.now() - state.startedAt),
      functionAppContentEditingState: 'Unknown',
      workerPid: state.workerPid,
    };
  }
  if (path === '/admin/functions') return state.functions.map((one) => describe(one, state));
  const name = /^\/admin\/functions\/([^/]+)$/.exec(path)?.[1];
  const one = state.functions.find((candidate) => candidate.name.toLowerCase() === name);
  if (one) return describe(one, state);
  return state.pages[path]?.();
}

function describe(one: FunctionInfo, { baseUrl }: AdminState) {
  return {
    name: one.name,
    href: `${baseUrl}/admin/functions/${one.name}`,
    invoke_url_template: one.url,
    language: 'node',
    isDisabled: one.disabled,
    config: {
      bindings: [
        {
          type: one.triggerType,
          direction: 'in',
          ...(one.url === undefined ? {} : { methods: one.methods }),
        },
      ],
    },
  };
}

function isLoopback(address: string | undefined): boolean {
  if (address === undefined) return false;
  const v4 = address.replace(/^::ffff:/, '');
  return address === '::1' || (isIP(v4) === 4 && v4.startsWith('127.'));
}
