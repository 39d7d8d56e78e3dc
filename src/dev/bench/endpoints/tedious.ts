import { Readable } from 'node:stream';
import { app } from '@azure/functions';
import { Connection, Request, TYPES } from 'tedious';
import { chunkLength, orderOf, server } from './order.js';

let connection: Promise<Connection> | undefined;

/** One, since one stream at a time is measured. */
function connected(): Promise<Connection> {
  connection ??= new Promise((resolve, reject) => {
    const opened = new Connection({
      server: server.host,
      authentication: { type: 'default', options: { userName: server.user, password: server.password } },
      options: {
        port: server.port,
        database: server.database,
        encrypt: server.encrypt,
        trustServerCertificate: true,
        requestTimeout: 0,
      },
    });
    opened.connect((error) => (error ? reject(error) : resolve(opened)));
  });
  return connection;
}

app.http('tedious', {
  handler: async (request) => {
    const { rows, mix } = orderOf(request);
    const open = await connected();
    let text = '';
    const command = new Request('dev.replay', (error) => {
      if (error) body.destroy(error);
      else {
        body.push(`${text || '['}]`);
        body.push(null);
      }
    });
    const body = new Readable({ read: () => command.resume() });
    command.addParameter('rows', TYPES.Int, rows);
    command.addParameter('mix', TYPES.VarChar, mix);
    let separator = '[';
    command.on('row', (columns: readonly { value: unknown; metadata: { colName: string } }[]) => {
      const row: Record<string, unknown> = {};
      for (const { value, metadata } of columns) row[metadata.colName] = value;
      text += separator + JSON.stringify(row);
      separator = ',';
      if (text.length < chunkLength) return;
      if (!body.push(text)) command.pause();
      text = '';
    });
    open.callProcedure(command);
    return { body, headers: { 'content-type': 'application/json' } };
  },
});
