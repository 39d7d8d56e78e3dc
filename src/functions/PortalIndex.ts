import { app } from '@azure/functions';
import { clientSignal, httpHandler } from '../index.js';
import { sharedPool, textPart, threadsSetting } from '../threads/index.js';

/**
 * Calls TimeApi synchronously: a thread stands still until it answers, so PORTAL_THREADS calls run at a time and all
 * others wait. PortalIndexAsync does the same work without a thread.
 */
app.http('PortalIndex', {
  route: 'Portal/Index',
  methods: ['GET'],
  authLevel: 'anonymous',
  handler: httpHandler(async (_request, context) => {
    const threads = threadsSetting('PORTAL_THREADS', 8);
    const body = await sharedPool('portal', { min: threads, max: threads }).run<string>({
      ...textPart,
      start: (signal) => download(timeApiUrl(), signal),
      signal: clientSignal(context),
      functionName: context.functionName,
      invocationId: context.invocationId,
    });
    return { body, headers: { 'content-type': 'application/json' } };
  }),
});

async function download(url: string, signal: AbortSignal): Promise<Uint8Array> {
  const response = await fetch(url, { signal });
  if (!response.ok) throw new Error(`TimeApi answered ${response.status}.`);
  return new Uint8Array(await response.arrayBuffer());
}

/** From settings only: a header of the request would let its sender choose whom this server calls. */
function timeApiUrl(): string {
  const { TIME_API_URL, WEBSITE_HOSTNAME } = process.env;
  if (TIME_API_URL) return TIME_API_URL;
  if (!WEBSITE_HOSTNAME) throw new Error('Set the app setting TIME_API_URL to the address of TimeApi.');
  const scheme = /^(localhost|127\.0\.0\.1)(:\d+)?$/.test(WEBSITE_HOSTNAME) ? 'http' : 'https';
  return `${scheme}://${WEBSITE_HOSTNAME}/api/TimeApi`;
}
