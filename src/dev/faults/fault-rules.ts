import type { ServerMessage } from '../sql-engine.js';

/** When a fault strikes: at the login, as a request begins, or once `rows` rows of it have been sent. */
export type FaultMoment = 'login' | 'start' | 'rows';

/**
 * What happens then:
 * - `error`: the message `number`; the request (or the login) fails with it.
 * - `delay`: `delayMs` pass, then all goes on.
 * - `silence`: nothing comes any more, until the client cancels or leaves.
 * - `reset`: the connection is reset (TCP RST).
 * - `sessionLimit` (login): 10928 while `sessions` sessions are open.
 * - `pause` (login): 40613 until `delayMs` after the first login that met it, as a serverless database that resumes.
 */
export type FaultAction = 'error' | 'delay' | 'silence' | 'reset' | 'sessionLimit' | 'pause';

export interface FaultRule {
  readonly at: FaultMoment;
  readonly action: FaultAction;
  /** `at: 'rows'`: how many rows pass before. */
  readonly rows?: number;
  /** `error`: the number; text, class and state have defaults. */
  readonly number?: number;
  readonly message?: string;
  readonly class?: number;
  readonly state?: number;
  /** `delay` and `pause`: milliseconds. */
  readonly delayMs?: number;
  readonly sessions?: number;
  /** Only sessions with this application name. */
  readonly application?: string;
  /**
   * Only requests whose text, or procedure name, contains this, in any case. Without it, all but batches that begin
   * with SET: drivers send one when they connect.
   */
  readonly sql?: string;
  /** Strikes so many times, then never again. Default: always. */
  readonly times?: number;
  /** Of striking when all else matches, 0 to 1. Default: 1. */
  readonly probability?: number;
}

/** A rule in force. */
export interface FaultState {
  readonly id: number;
  readonly rule: FaultRule;
  /** How often it will still strike; infinity for always. */
  left: number;
  /** `pause`: when the first login met it, in performance.now(). */
  since?: number;
}

/** A rule that can't be: `path` says where it stands (`faults[2].number`). */
export class FaultRuleError extends Error {
  readonly code = 'FAULT_RULE';
  readonly path: string;

  constructor(path: string, problem: string) {
    super(`${path}: ${problem}`);
    this.name = 'FaultRuleError';
    this.path = path;
  }
}

/** A test of a value, and what to say of one that fails it. */
type Check = readonly [test: (value: unknown) => boolean, must: string];
const whole = (least: number, most: number): Check => [
  (value) => Number.isInteger(value) && (value as number) >= least && (value as number) <= most,
  `a whole number from ${least} to ${most}`,
];
const oneOf = (...values: string[]): Check => [
  (value) => values.includes(value as string),
  `one of ${values.join(', ')}`,
];
const text: Check = [(value) => typeof value === 'string' && value !== '', 'a text that is not empty'];
const int32 = 2 ** 31 - 1;

const checks: Record<keyof FaultRule, Check> = {
  at: oneOf('login', 'start', 'rows'),
  action: oneOf('error', 'delay', 'silence', 'reset', 'sessionLimit', 'pause'),
  rows: whole(0, Number.MAX_SAFE_INTEGER),
  number: whole(1, int32),
  message: text,
  class: whole(11, 25),
  state: whole(0, 255),
  delayMs: whole(0, int32),
  sessions: whole(0, 32_767),
  application: text,
  sql: text,
  times: whole(1, Number.MAX_SAFE_INTEGER),
  probability: [(value) => typeof value === 'number' && value >= 0 && value <= 1, 'a number from 0 to 1'],
};

/** What an action, or `at: 'rows'`, can't do without. */
const needed: Partial<Record<FaultAction | FaultMoment, keyof FaultRule>> = {
  error: 'number',
  delay: 'delayMs',
  pause: 'delayMs',
  sessionLimit: 'sessions',
  rows: 'rows',
};

/** Checks a rule of unknown origin. Throws a FaultRuleError that names the field and what it must be. */
export function checkFaultRule(value: unknown, path = 'fault'): FaultRule {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new FaultRuleError(path, 'must be an object');
  }
  const fail = (field: string, problem: string): never => {
    throw new FaultRuleError(`${path}.${field}`, problem);
  };
  const { at, action } = value as Partial<FaultRule>;
  for (const [field, given] of Object.entries({ ...value, at, action })) {
    if (!Object.hasOwn(checks, field))
      fail(field, `is not known; known are ${Object.keys(checks).join(', ')}`);
    const [test, must] = checks[field as keyof FaultRule];
    const found = given === undefined ? '' : `; it is ${JSON.stringify(given)}`;
    if (!test(given)) fail(field, `must be ${must}${found}`);
  }
  const rule = value as FaultRule;
  for (const what of [rule.action, rule.at]) {
    const field = needed[what];
    if (field && rule[field] === undefined) fail(field, `is needed by "${what}"`);
  }
  const isOfLogin = rule.action === 'pause' || rule.action === 'sessionLimit';
  if (isOfLogin && rule.at !== 'login') fail('at', `must be "login" with "${rule.action}"`);
  if (rule.at === 'login' && rule.sql !== undefined) fail('sql', 'has no meaning at a login');
  return rule;
}

/** Reads a file of rules: `[{ ... }]` or `{ "faults": [{ ... }] }`. `name` stands in messages. */
export function parseFaultRules(json: string, name: string): FaultRule[] {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch (error) {
    throw new FaultRuleError(name, `is no JSON: ${(error as Error).message}`);
  }
  const list = Array.isArray(value) ? value : (value as { faults?: unknown } | null)?.faults;
  if (!Array.isArray(list))
    throw new FaultRuleError(name, 'must be a list of faults, or have one as "faults"');
  return list.map((rule, index) => checkFaultRule(rule, `${name}: faults[${index}]`));
}

/**
 * Classes and texts of the numbers that clients retry (Microsoft's "Troubleshoot transient connection errors" and
 * "Database engine events and errors").
 */
const known = new Map(
  `
  1205 13 Transaction (Process ID 51) was deadlocked on lock resources with another process and has been chosen as the deadlock victim. Rerun the transaction.
  1222 16 Lock request time out period exceeded.
  4060 11 Cannot open database requested by the login. The login failed.
  10928 16 Resource ID : 2. The session limit for the database has been reached. See https://go.microsoft.com/fwlink/?LinkId=267637 for assistance.
  10929 16 The server is currently too busy to support requests greater than the minimum guarantee for this database.
  18456 14 Login failed.
  40197 17 The service has encountered an error processing your request. Please try again.
  40501 20 The service is currently busy. Retry the request after 10 seconds.
  40613 17 Database is not currently available. Please retry the connection later.
  42108 16 Can not connect to the SQL pool since it is paused. Please resume the SQL pool and try again.
  42109 16 The SQL pool is warming up. Please try again.
  49918 16 Cannot process request. Not enough resources to process request.
  49919 16 Cannot process create or update request. Too many create or update operations in progress.
  49920 16 Cannot process request. Too many operations in progress for the subscription.`
    .split('\n')
    .map((line) => {
      const [, number, severity, text = ''] = /^\s*(\d+) (\d+) (.*)$/.exec(line) ?? [];
      return [Number(number), { severity: Number(severity), text }] as const;
    }),
);

/** The message that a rule fails a request or a login with. */
export function faultMessage(rule: FaultRule): ServerMessage {
  const own = { sessionLimit: 10928, pause: 40613 }[rule.action as 'pause'];
  const number = own ?? rule.number ?? 50000;
  const { severity, text } = known.get(number) ?? {
    severity: 16,
    text: `Fault on demand: error ${number}.`,
  };
  const { message = text, state = 1 } = rule;
  return { number, state, class: rule.class ?? severity, message, line: 1 };
}
