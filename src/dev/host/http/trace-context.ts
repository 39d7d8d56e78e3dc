import { randomFillSync } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { RpcTraceContext } from '../rpc.js';

const incoming = /^[\da-f]{2}-(?!0{32})([\da-f]{32})-(?!0{16})[\da-f]{16}-([\da-f]{2})/;
const random = Buffer.alloc(24 * 128);
let used = random.length;

/** W3C Trace Context: continues the caller's trace with a span of its own, or begins a trace that is not sampled. */
export function traceContext(headers: IncomingHttpHeaders): RpcTraceContext {
  if (used === random.length) {
    randomFillSync(random);
    used = 0;
  }
  const own = random.toString('hex', used, used + 24);
  used += 24;
  const [, trace = own.slice(16), flags = '00'] = incoming.exec(String(headers['traceparent'] ?? '')) ?? [];
  const traceParent = `00-${trace}-${own.slice(0, 16)}-${flags}`;
  const traceState = headers['tracestate'];
  return typeof traceState === 'string' ? { traceParent, traceState } : { traceParent, traceState: '' };
}
