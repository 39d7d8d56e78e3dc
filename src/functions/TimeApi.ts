import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { app } from '@azure/functions';
import { clientSignal, httpHandler } from '../index.js';

/** Stands for a slow service: the date and time after a random delay between two app settings, in ms. */
app.http('TimeApi', {
  methods: ['GET'],
  authLevel: 'anonymous',
  handler: httpHandler(async (_request, context) => {
    const least = setting('TIME_API_MIN_MS', 10_000);
    const most = Math.max(least, setting('TIME_API_MAX_MS', 20_000));
    await sleep(randomInt(least, most + 1), undefined, { signal: clientSignal(context) });
    return { jsonBody: { now: new Date().toISOString() } };
  }),
});

function setting(name: string, fallback: number): number {
  const text = process.env[name] || `${fallback}`;
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new Error(`The app setting ${name} must be a number of ms from 0 to 999999999, not '${text}'.`);
}
