import type { Statement } from './ast.js';
import { parseMoment } from './dates.js';
import { Cancelled, fail, refuse, SqlError } from './errors.js';
import { evaluate } from './execute.js';
import type { Scope } from './run-scope.js';
import { int, nvarchar } from './types.js';

type Of<K extends Statement['k']> = Extract<Statement, { k: K }>;

/** THROW: the error again in a CATCH block, or a new one of class 16. */
export async function throwError(statement: Of<'throw'>, scope: Scope): Promise<never> {
  if (statement.args.length === 0) {
    const { caught } = scope.runtime;
    if (!caught) return fail(10704);
    const error = new SqlError(caught.number, caught.class, caught.state, caught.message);
    error.line = caught.line;
    error.procedure = caught.procedure;
    throw error;
  }
  if (statement.args.length !== 3) fail(102, 'THROW');
  const number = (await evaluate(statement.args[0]!, scope, int)).value as number;
  const message = (await evaluate(statement.args[1]!, scope, nvarchar(2048))).value as string;
  const state = (await evaluate(statement.args[2]!, scope, int)).value as number;
  if (number < 50_000)
    fail(
      35100,
      `Error number ${number} in the THROW statement is outside the valid range. Specify an error number in the valid range of 50000 to 2147483647.`,
    );
  throw new SqlError(number, 16, state & 255, message);
}

/** RAISERROR: an error above class 10, else a message. */
export async function raiserror(statement: Of<'raiserror'>, scope: Scope): Promise<void> {
  const [text, severity, state, ...rest] = statement.args;
  if (!text || !severity || !state) fail(102, 'RAISERROR');
  const first = await evaluate(text!, scope);
  const values: unknown[] = [];
  for (const arg of rest) values.push((await evaluate(arg, scope)).value);
  const level = (await evaluate(severity!, scope, int)).value as number;
  const place = (await evaluate(state!, scope, int)).value as number;
  if (typeof first.value === 'number') refuse('RAISERROR with a message number');
  if (level > 18) refuse('RAISERROR with a severity above 18');
  let next = 0;
  const message = String(first.value).replace(/%(-?\d*)([dsiu%])/g, (_, width: string, kind: string) => {
    if (kind === '%') return '%';
    const value = values[next++];
    const shown = value === undefined || value === null ? '(null)' : String(value);
    return width.startsWith('-') ? shown.padEnd(-Number(width)) : shown.padStart(Number(width));
  });
  const error = new SqlError(50_000, Math.max(0, level), place < 0 ? 1 : place & 255, message);
  if (level > 10) throw error;
  error.line = statement.line;
  error.procedure = scope.procedure;
  scope.response.message({ ...error.toMessage(), class: level === 10 ? 0 : level });
}

/** WAITFOR costs a timer; the signal ends it. */
export async function waitFor(statement: Of<'waitfor'>, scope: Scope): Promise<void> {
  const { value, type } = await evaluate(statement.value, scope);
  if (value === null) fail(148, 'NULL');
  let ms: number;
  const ofTime = (ticks: bigint): number => Number(ticks / 10_000n);
  if (typeof value === 'string') {
    try {
      ms = ofTime(parseMoment(value, type.name, { name: 'time', scale: 7 }).time);
    } catch {
      return fail(148, value);
    }
  } else if (type.name === 'datetime' || type.name === 'smalldatetime')
    ms = ofTime((value as bigint) % 864_000_000_000n);
  else return fail(9815, `Waitfor delay and waitfor time cannot be of type ${type.name}.`);
  if (statement.kind === 'TIME') {
    const day = 86_400_000;
    ms = (ms - (Date.now() % day) + day) % day;
  }
  await scope.runtime.session.waiting('WAITFOR', () => delay(ms, scope.signal));
}

function delay(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(new Cancelled());
    const abort = (): void => {
      clearTimeout(timer);
      reject(new Cancelled());
    };
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', abort);
      resolve();
    }, ms);
    signal.addEventListener('abort', abort, { once: true });
  });
}
