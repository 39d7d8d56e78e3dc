import type { ServerResponse } from 'node:http';
import { invocationIdHeader } from '../protocol.js';
import type { InvocationModel } from './core-model.js';

interface Answer {
  readonly status: number;
  readonly headers?: Record<string, string>;
  readonly body?: string;
}

/**
 * Answers a streamed request for which the library gave no answer, or half of one. On its own it would leave the client
 * hanging: the library sends what a handler returns, and nothing at all for an exception, undefined, a string, or a
 * status that is none.
 */
export async function answerInstead(
  answer: Answer,
  { invocationId, model, context, response }: Unanswered,
): Promise<void> {
  if (!response?.headersSent) {
    for (const name of response?.getHeaderNames() ?? []) response?.removeHeader(name);
    try {
      // Through the library, so that it forgets the invocation; else it keeps request and response for ever.
      await model.getResponse(context ?? { invocationId, extraOutputs: new Map() }, answer);
    } catch {
      // It has forgotten it already, and failed after that.
    }
  }
  if (response === undefined || response.writableEnded || response.destroyed) return;
  if (response.headersSent) breakBody(response);
  else {
    for (const name of response.getHeaderNames()) response.removeHeader(name);
    response
      .writeHead(answer.status, { ...answer.headers, [invocationIdHeader]: invocationId })
      .end(answer.body);
  }
}

interface Unanswered {
  readonly invocationId: string;
  readonly model: InvocationModel;
  readonly context: unknown;
  /** Undefined when its client is gone. */
  readonly response: ServerResponse | undefined;
}

/** What is written may still be corked, and `destroy` would lose it together with the head. */
function breakBody(response: ServerResponse): void {
  response.flushHeaders();
  setImmediate(() => response.destroy());
}
