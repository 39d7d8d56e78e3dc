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
    pool: { max: 1_000 },
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

app.http('mssql-stream', {
  handler: async (request) => {
    const command = await replayRequest(request);
    const rows = command.toReadableStream();
    // Its errors come through the stream as well.
    command.query('exec dev.replay @rows = @rows, @mix = @mix').catch(() => {});
    return { body: Readable.from(jsonOf(rows)), headers: { 'content-type': 'application/json' } };
  },
});

async function* jsonOf(rows: AsyncIterable<unknown>): AsyncGenerator<Buffer> {
  let text = '[';
  let first = true;
  for await (const row of rows) {
    text += first ? JSON.stringify(row) : `,${JSON.stringify(row)}`;
    first = false;
    if (text.length >= chunkLength) {
      yield Buffer.from(text);
      text = '';
    }
  }
  yield Buffer.from(`${text}]`);
}

app.http('blog-mssql', {
  handler: async () => {
    const { recordset } = await (await connectedPool()).request().query('exec BlogProc');
    return { jsonBody: recordset };
  },
});
