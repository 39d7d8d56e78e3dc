import { app } from '@azure/functions';
import { clientSignal, httpHandler } from '../index.js';

/** Awaits TimeApi: nothing stands still meanwhile, and the number of calls at a time has no limit of its own. */
app.http('PortalIndexAsync', {
  route: 'Portal/IndexAsync',
  methods: ['GET'],
  authLevel: 'anonymous',
  handler: httpHandler(async (_request, context) => {
    const response = await fetch(timeApiUrl(), { signal: clientSignal(context) });
    if (!response.ok) throw new Error(`TimeApi answered ${response.status}.`);
    return { body: await response.text(), headers: { 'content-type': 'application/json' } };
  }),
});

/** From settings only: a header of the request would let its sender choose whom this server calls. */
function timeApiUrl(): string {
  const { TIME_API_URL, WEBSITE_HOSTNAME } = process.env;
  if (TIME_API_URL) return TIME_API_URL;
  if (!WEBSITE_HOSTNAME) throw new Error('Set the app setting TIME_API_URL to the address of TimeApi.');
  const scheme = /^(localhost|127\.0\.0\.1)(:\d+)?$/.test(WEBSITE_HOSTNAME) ? 'http' : 'https';
  return `${scheme}://${WEBSITE_HOSTNAME}/api/TimeApi`;
}
