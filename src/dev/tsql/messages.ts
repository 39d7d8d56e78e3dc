import { fail, refuse, SqlError } from './errors.js';
import { evaluate } from './select.js';
import type { Frame } from './session.js';
import type { Expr } from './syntax.js';
import { int, nvarchar } from './types.js';

/** THROW: the error again in a CATCH block, or a new one of class 16. */
export function raise(args: readonly Expr[], frame: Frame): never {
  const { caught } = frame;
  if (args.length === 0) {
    if (!caught) return fail(10704);
    throw Object.assign(new SqlError(caught.number, caught.class, caught.state, caught.message), {
      line: caught.line,
      procedure: caught.procedure,
    });
  }
  const [number, state] = [args[0]!, args[2]!].map((arg) => evaluate(arg, frame, int).value as number);
  if (number! < 50_000) fail(35100, number!);
  throw new SqlError(number!, 16, state! & 255, String(evaluate(args[1]!, frame, nvarchar(4000)).value));
}

/** RAISERROR: an error above class 10, else a message. */
export function raiseError(args: readonly Expr[], frame: Frame, isUrgent: boolean): undefined {
  const values = args.map((arg) => evaluate(arg, frame).value);
  const [format, severity, state, ...rest] = values;
  if (typeof format !== 'string' || Number(severity) > 18)
    refuse('RAISERROR with a message number or a severity above 18');
  const message = String(format).replace(/%([dsiu%])/g, (_, kind) =>
    kind === '%' ? '%' : String(rest.shift() ?? '(null)'),
  );
  const error = new SqlError(
    50_000,
    Math.max(0, Number(severity)),
    Math.max(1, Number(state)) & 255,
    message,
  );
  if (error.class > 10) throw error;
  inform(message, frame, error);
  if (isUrgent) frame.response.flush?.();
  return undefined;
}

/** A message of class 10 or less, at the statement that runs. */
export function inform(
  message: string,
  { procedure, response, session: { line } }: Frame,
  { number, class: level, state }: Pick<SqlError, 'number' | 'class' | 'state'>,
): void {
  const place = procedure === undefined ? {} : { procedure };
  response.message({ number, class: level === 10 ? 0 : level, state, message, line, ...place });
}
