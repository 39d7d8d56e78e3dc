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
export interface Armed {
  readonly id: number;
  readonly rule: FaultRule;
  left: number;
  /** `pause`: when the first login met it. */
  since: number | undefined;
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

type Check = (value: unknown) => string | undefined;
const whole =
  (least: number, most: number): Check =>
  (value) =>
    Number.isInteger(value) && (value as number) >= least && (value as number) <= most
      ? undefined
      : `must be a whole number from ${least} to ${most}`;
const text: Check = (value) =>
  typeof value === 'string' && value !== '' ? undefined : 'must be a text that is not empty';
const oneOf =
  (...values: string[]): Check =>
  (value) =>
    values.includes(value as string) ? undefined : `must be one of ${values.join(', ')}`;

const checks: Record<keyof FaultRule, Check> = {
  at: oneOf('login', 'start', 'rows'),
  action: oneOf('error', 'delay', 'silence', 'reset', 'sessionLimit', 'pause'),
  rows: whole(0, Number.MAX_SAFE_INTEGER),
  number: whole(1, 2 ** 31 - 1),
  message: text,
  class: whole(11, 25),
  state: whole(0, 255),
  delayMs: whole(0, 2 ** 31 - 1),
  sessions: whole(0, 32_767),
  application: text,
  sql: text,
  times: whole(1, Number.MAX_SAFE_INTEGER),
  probability: (value) =>
    typeof value === 'number' && value >= 0 && value <= 1 ? undefined : 'must be a number from 0 to 1',
};

/** The value that an action can't do without. */
const needed: Partial<Record<FaultAction, keyof FaultRule>> = {
  error: 'number',
  delay: 'delayMs',
  pause: 'delayMs',
  sessionLimit: 'sessions',
};

/** Checks a rule of unknown origin. Throws a FaultRuleError that names the field and what it must be. */
export function checkFaultRule(value: unknown, path = 'fault'): FaultRule {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new FaultRuleError(path, 'must be an object');
  }
  const fields = value as Record<string, unknown>;
  for (const [name, field] of Object.entries(fields)) {
    const check = Object.hasOwn(checks, name) ? checks[name as keyof FaultRule] : undefined;
    if (!check)
      throw new FaultRuleError(
        `${path}.${name}`,
        `is not known; known are ${Object.keys(checks).join(', ')}`,
      );
    const problem = check(field);
    if (problem) throw new FaultRuleError(`${path}.${name}`, `${problem}; it is ${JSON.stringify(field)}`);
  }
  for (const name of ['at', 'action'] as const) {
    if (fields[name] === undefined) throw new FaultRuleError(`${path}.${name}`, checks[name](undefined)!);
  }
  const rule = fields as unknown as FaultRule;
  const need = needed[rule.action];
  if (need && rule[need] === undefined)
    throw new FaultRuleError(`${path}.${need}`, `is needed by "${rule.action}"`);
  if (rule.at === 'rows' && rule.rows === undefined) {
    throw new FaultRuleError(`${path}.rows`, 'is needed by "at": "rows"');
  }
  if ((rule.action === 'sessionLimit' || rule.action === 'pause') && rule.at !== 'login') {
    throw new FaultRuleError(`${path}.at`, `must be "login" with "${rule.action}"`);
  }
  if (rule.at === 'login' && rule.sql !== undefined) {
    throw new FaultRuleError(`${path}.sql`, 'has no meaning at a login');
  }
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
 * Texts and classes of the numbers that clients retry (Microsoft's "Troubleshoot transient connection errors" and
 * "Database engine events and errors").
 */
const known: Record<number, readonly [severity: number, text: string]> = {
  1205: [
    13,
    'Transaction (Process ID 51) was deadlocked on lock resources with another process and has been chosen as the deadlock victim. Rerun the transaction.',
  ],
  1222: [16, 'Lock request time out period exceeded.'],
  4060: [11, 'Cannot open database requested by the login. The login failed.'],
  10928: [
    16,
    'Resource ID : 2. The session limit for the database has been reached. See https://go.microsoft.com/fwlink/?LinkId=267637 for assistance.',
  ],
  10929: [
    16,
    'The server is currently too busy to support requests greater than the minimum guarantee for this database.',
  ],
  18456: [14, 'Login failed.'],
  40197: [17, 'The service has encountered an error processing your request. Please try again.'],
  40501: [20, 'The service is currently busy. Retry the request after 10 seconds.'],
  40613: [17, 'Database is not currently available. Please retry the connection later.'],
  42108: [
    16,
    'Can not connect to the SQL pool since it is paused. Please resume the SQL pool and try again.',
  ],
  42109: [16, 'The SQL pool is warming up. Please try again.'],
  49918: [16, 'Cannot process request. Not enough resources to process request.'],
  49919: [16, 'Cannot process create or update request. Too many create or update operations in progress.'],
  49920: [16, 'Cannot process request. Too many operations in progress for the subscription.'],
};

export function faultMessage(rule: Pick<FaultRule, 'number' | 'message' | 'class' | 'state'>) {
  const number = rule.number ?? 50000;
  const [severity, standard] = known[number] ?? [16, `Fault on demand: error ${number}.`];
  const { message = standard, state = 1 } = rule;
  return { number, state, class: rule.class ?? severity, message, line: 1 };
}
