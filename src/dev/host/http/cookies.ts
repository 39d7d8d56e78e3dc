import type { RpcCookie } from '../rpc.js';

/** A `Set-Cookie` value, as ASP.NET Core writes what a function returned. */
export function setCookie(cookie: RpcCookie): string {
  const parts = [`${cookie.name}=${encodeURIComponent(cookie.value)}`];
  const seconds = cookie.expires?.value.seconds;
  if (seconds !== undefined) parts.push(`expires=${new Date(seconds * 1_000).toUTCString()}`);
  if (cookie.maxAge) parts.push(`max-age=${cookie.maxAge.value}`);
  if (cookie.domain) parts.push(`domain=${cookie.domain.value}`);
  parts.push(`path=${cookie.path?.value ?? '/'}`);
  if (cookie.secure?.value) parts.push('secure');
  const sameSite = { none: undefined, lax: 'lax', strict: 'strict', explicitNone: 'none' }[
    cookie.sameSite ?? 'none'
  ];
  if (sameSite) parts.push(`samesite=${sameSite}`);
  if (cookie.httpOnly?.value) parts.push('httponly');
  return parts.join('; ');
}
