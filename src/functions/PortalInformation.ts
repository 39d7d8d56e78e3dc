import { app } from '@azure/functions';
import { httpHandler } from '../index.js';
import { findPool, threadsSetting } from '../threads/index.js';

/** How busy the threads of PortalIndex are. They start with its first call; until then all count as available. */
app.http('PortalInformation', {
  route: 'Portal/Information',
  methods: ['GET'],
  authLevel: 'anonymous',
  handler: httpHandler(() => {
    const total = threadsSetting('PORTAL_THREADS', 8);
    const { blocked, running, queued } = findPool('portal')?.counts() ?? {
      blocked: 0,
      running: 0,
      queued: 0,
    };
    return { jsonBody: { total, available: total - blocked - running, blocked, queued } };
  }),
});
