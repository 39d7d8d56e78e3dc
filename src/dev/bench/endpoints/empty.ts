import { setTimeout as sleep } from 'node:timers/promises';
import { app } from '@azure/functions';

/** For pings beside a stream. */
app.http('ping', { handler: () => ({ body: 'pong' }) });

/** As long as BlogProc, without SQL: what a request costs whatever its function does. */
app.http('blog-empty', {
  handler: async () => {
    await sleep(1_000);
    return { body: '[]', headers: { 'content-type': 'application/json' } };
  },
});
