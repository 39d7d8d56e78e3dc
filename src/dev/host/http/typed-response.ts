import type { ServerResponse } from 'node:http';
import { invocationIdHeader } from '../protocol.js';
import type { RpcHttpData, RpcTypedData } from '../rpc.js';
import { setCookie } from './cookies.js';
import { type ExtraHeaders, respond } from './respond.js';

/** Of these the host makes its own. */
const framing = new Set(['connection', 'keep-alive', 'transfer-encoding', 'upgrade', 'trailer', 'te']);

/** What a handler gave, without streaming. No answer at all is a 204. */
export function respondTyped(
  response: ServerResponse,
  data: RpcTypedData | undefined,
  invocationId: string,
  extra: ExtraHeaders,
): void {
  const http = data?.http;
  const own = [invocationIdHeader, invocationId, ...extra];
  if (http === undefined) {
    respond(response, 204, own);
    return;
  }
  const status = Number(http.statusCode ?? 200);
  const body = bodyOf(http);
  // In answer to HEAD it is the length of what GET would give, which only the handler knows.
  const keepsLength = response.req.method === 'HEAD' && body.length === 0;
  const headers = Object.entries(http.headers ?? {}).flatMap(([name, value]) => {
    const lower = name.toLowerCase();
    if (framing.has(lower) || (lower === 'content-length' && !keepsLength)) return [];
    return [lower, value];
  });
  const cookies = (http.cookies ?? []).flatMap((cookie) => ['Set-Cookie', setCookie(cookie)]);
  respond(response, status, [...headers, ...cookies, ...own], body);
}

function bodyOf({ body }: RpcHttpData): string | Uint8Array {
  return body?.bytes ?? body?.string ?? body?.json ?? '';
}
