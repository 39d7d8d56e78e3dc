import azureFunctions, { type HttpRequest, type HttpResponse } from '@azure/functions';
import type { RowBytes, RowWriter } from '../sql/index.js';
import type { ByteSource } from './byte-source.js';
import { type Format, formatFor } from './formats.js';
import type { Invocation, QueryRecord } from './invocation.js';
import { problemResponse } from './problem-response.js';
import { queryBytes } from './query-bytes.js';
import { logQuery } from './query-log.js';
import { type Outcome, ResponseBody } from './response-body.js';
import { checkInit, hasBody, type RespondInit, streamHeaders } from './response-init.js';
import { RowChunks } from './row-chunks.js';
import { RowQuery } from './row-query.js';
import { StreamedResponse } from './streamed-response.js';

export interface RowsToSend {
  /** A query that nobody has read from, or rows that were made from one. */
  readonly rows: AsyncIterable<unknown>;
  /** The stream whose columns the rows have, in case several were read for them. */
  readonly owner: object;
  /** The longest time in ms in which the client takes nothing; 0 for no limit. */
  readonly clientSilenceMs: number;
  /** Writes rows that came from no query. */
  readonly plainRowBytes: (writer: RowWriter) => RowBytes;
}

/**
 * The response that streams rows. Never rejects: what fails before the first row is a response with the status that
 * fits, since a handler that throws leaves the client without any.
 */
export async function respond(
  request: HttpRequest,
  invocation: Invocation,
  sent: RowsToSend,
  init: RespondInit = {},
): Promise<HttpResponse> {
  const report = new Report(invocation, sent);
  try {
    checkInit(init);
    const format = formatFor(request.headers.get('accept'));
    const source = await report.open(format);
    if (!hasBody(request.method, init.status ?? 200)) return await bodiless(source, format, init, report);
    const body = new ResponseBody({
      source,
      format,
      invocation,
      clientSilenceMs: sent.clientSilenceMs,
      onEnd: report.end,
    });
    const length = await body.begin();
    return new StreamedResponse({ ...init, headers: streamHeaders(init, format, length) }, body);
  } catch (error) {
    if (invocation.disconnected) report.end('client left', 0, undefined);
    else report.end('failed', 0, error);
    return problemResponse(error, invocation);
  } finally {
    // What a handler returns is settled now, as far as can be known.
    invocation.handlerEnded = true;
  }
}

/** HEAD and the like: the status and headers are those of the rows, which are not sent. */
async function bodiless(
  source: ByteSource,
  format: Format,
  init: RespondInit,
  report: Report,
): Promise<HttpResponse> {
  await source.next();
  source.stop();
  report.end('no body to send', 0, undefined);
  return new azureFunctions.HttpResponse({ ...init, headers: streamHeaders(init, format, undefined) });
}

/** Which query the rows come from, and the line about it. */
class Report {
  readonly #invocation: Invocation;
  readonly #sent: RowsToSend;
  #chunks: RowChunks | undefined;

  constructor(invocation: Invocation, sent: RowsToSend) {
    this.#invocation = invocation;
    this.#sent = sent;
    invocation.responding = true;
  }

  async open(format: Format): Promise<ByteSource> {
    const { rows } = this.#sent;
    if (rows instanceof RowQuery && !rows.used) return queryBytes(await rows.start(), format);
    this.#chunks = new RowChunks(
      rows,
      () => this.#rowBytes(format),
      (listener) => this.#invocation.onCancel(listener),
    );
    return this.#chunks;
  }

  readonly end = (outcome: Outcome | 'no body to send', bytes: number, error: unknown): void => {
    const mapped = this.#chunks === undefined ? {} : { rows: this.#chunks.rowCount };
    logQuery(this.#invocation, this.#query()?.source?.stats, { outcome, error, bytes, ...mapped });
  };

  #rowBytes({ writer }: Format): RowBytes {
    return this.#query()?.source?.rowBytes(writer) ?? this.#sent.plainRowBytes(writer);
  }

  #query(): QueryRecord | undefined {
    const { queries } = this.#invocation;
    const begun = queries.filter((query) => query.source !== undefined);
    return begun.findLast((query) => query.owner === this.#sent.owner) ?? begun.at(-1);
  }
}
