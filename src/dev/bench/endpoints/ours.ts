import { app } from '@azure/functions';
import { sqlStream } from '../../../index.js';
import { orderOf } from './order.js';

const connectionStringSetting = 'BENCH_SQL';

const replay = sqlStream({
  commandText: 'dev.replay',
  commandType: 'StoredProcedure',
  parameters: (request) => orderOf(request),
  connectionStringSetting,
});

/** As the app's BlogAsync. */
const blogs = sqlStream({ commandText: 'exec BlogProc', connectionStringSetting });

const soak = sqlStream({
  commandText: 'select Id, Name, Amount, Created from dbo.SoakRows where Id <= @rows order by Id',
  parameters: (request) => ({ rows: orderOf(request).rows }),
  connectionStringSetting,
  pool: { max: 100 },
  deadlines: { acquireMs: 30_000, firstRowMs: 5_000 },
});

/** Through a relay that sees each packet; a pool of its own. */
const watched = process.env['BENCH_SQL_WATCHED'] !== undefined;

async function* eachOf(rows: AsyncIterable<unknown>) {
  for await (const row of rows) yield row;
}

app.http('respond', { handler: (request, context) => replay.respond(request, context) });
app.http('rows', { handler: replay.handler((request, context) => eachOf(replay.rows(request, context))) });
app.http('blog-ours', { handler: blogs.handler() });
app.http('soak', { handler: (request, context) => soak.respond(request, context) });
app.http('soak-rows', { handler: soak.handler((request, context) => eachOf(soak.rows(request, context))) });
if (watched) {
  const seen = sqlStream({
    commandText: 'dev.replay',
    commandType: 'StoredProcedure',
    parameters: (request) => orderOf(request),
    connectionStringSetting: 'BENCH_SQL_WATCHED',
  });
  app.http('watched', { handler: (request, context) => seen.respond(request, context) });
}
