/** Codes of the answers that the host gives in place of a function. */
export type ProblemCode =
  | 'FunctionFailed'
  | 'BindingFailed'
  | 'WorkerDied'
  | 'WorkerUnavailable'
  | 'FunctionTimeout'
  | 'TooManyRequests'
  | 'RequestTooLarge'
  | 'BadRequest'
  | 'NotSupported'
  | 'HostStopping';

/** An RFC 9457 body. It names the invocation, which the log names too; never a stack, nor the text of an exception. */
export function problemBody(
  status: number,
  code: ProblemCode,
  detail: string,
  invocationId?: string,
): string {
  return JSON.stringify({
    type: 'about:blank',
    title: titles[status] ?? 'Error',
    status,
    code,
    detail,
    invocationId,
  });
}

export const problemType = 'application/problem+json';

const titles: Record<number, string> = {
  400: 'Bad Request',
  413: 'Content Too Large',
  429: 'Too Many Requests',
  500: 'Internal Server Error',
  501: 'Not Implemented',
  502: 'Bad Gateway',
  503: 'Service Unavailable',
  504: 'Gateway Timeout',
};

export function functionFailed(functionName: string): string {
  return `The function ${functionName} failed. The host's log says why, under this invocation id.`;
}
