import { Readable } from 'node:stream';
import { app, type HttpRequest } from '@azure/functions';
import mssql from 'mssql';
import { chunkLength, orderOf, server } from './order.js';

/** Written as most apps are that use mssql: one pool, connected with the first request. */
let pool: Promise<mssql.ConnectionPool> | undefined;

function connectedPool(): Promise<mssql.ConnectionPool> {
  pool ??= new mssql.ConnectionPool({
    server: server.host,
    port: server.port,
    user: server.user,
    password: server.password,
    database: server.database,
    options: { encrypt: server.encrypt, trustServerCertificate: true },
    pool: { max: server.poolSize },
    // Its default of 15 s is shorter than a million rows take.
    requestTimeout: 0,
  }).connect();
  return pool;
}

async function replayRequest(request: HttpRequest): Promise<mssql.Request> {
  const { rows, mix } = orderOf(request);
  const command = (await connectedPool()).request();
  return command.input('rows', mssql.Int, rows).input('mix', mssql.VarChar(10), mix);
}

app.http('mssql-query', {
  handler: async (request) => {
    const { recordset } = await (await replayRequest(request)).query(
      'exec dev.replay @rows = @rows, @mix = @mix',
    );
    return { jsonBody: recordset };
  },
});

type JsonOf = (rows: AsyncIterable<unknown>) => AsyncGenerator<string>;

function streamWith(jsonOf: JsonOf) {
  return async (request: HttpRequest) => {
    const command = await replayRequest(request);
    const rows = command.toReadableStream();
    // Its errors come through the stream as well.
    command.query('exec dev.replay @rows = @rows, @mix = @mix').catch(() => {});
    return {
      body: Readable.from(jsonOf(rows), { objectMode: false }),
      headers: { 'content-type': 'application/json' },
    };
  };
}

/** The usual way: each row is a chunk. */
app.http('mssql-stream', { handler: streamWith(eachRow) });
/** Made by hand for speed: a chunk holds many rows. */
app.http('mssql-batched', { handler: streamWith(manyRows) });

async function* eachRow(rows: AsyncIterable<unknown>): AsyncGenerator<string> {
  let separator = '[';
  for await (const row of rows) {
    yield separator + JSON.stringify(row);
    separator = ',';
  }
  yield separator === '[' ? '[]' : ']';
}

async function* manyRows(rows: AsyncIterable<unknown>): AsyncGenerator<string> {
  let text = '[';
  let first = true;
  for await (const row of rows) {
    text += first ? JSON.stringify(row) : `,${JSON.stringify(row)}`;
    first = false;
    if (text.length >= chunkLength) {
      yield text;
      text = '';
    }
  }
  yield `${text}]`;
}

app.http('blog-mssql', {
  handler: async () => {
    const { recordset } = await (await connectedPool()).request().query('exec BlogProc');
    return { jsonBody: recordset };
  },
});
