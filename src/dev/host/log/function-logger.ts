import type { InvocationFailure } from '../protocol.js';
import type { RpcLogLevel } from '../rpc.js';
import type { LogWriter } from './log-writer.js';

/** What the log says of one function. Made once for its descriptor and kept there. */
export interface FunctionLogger {
  executing(invocationId: string): void;
  executed(invocationId: string, durationMs: number, failure?: InvocationFailure): void;
  /** A line that the function, or the library on its behalf, wrote. */
  log(level: RpcLogLevel, message: string): void;
}

const shownLevels: ReadonlySet<RpcLogLevel> = new Set(['information', 'warning', 'error', 'critical']);

export function createFunctionLogger(functionName: string, writer: LogWriter): FunctionLogger {
  const subject = `'Functions.${functionName}'`;
  return {
    executing(id) {
      writer.line(
        `Executing ${subject} (Reason='This function was programmatically called via the host APIs.', Id=${id})`,
      );
    },
    executed(id, durationMs, failure) {
      const took = `Id=${id}, Duration=${Math.round(durationMs)}ms`;
      if (failure === undefined) {
        writer.line(`Executed ${subject} (Succeeded, ${took})`);
        return;
      }
      const where = failure.at === undefined ? '' : ` at ${failure.at}`;
      writer.line(`Executed ${subject} (Failed, ${took}) ${oneLine(failure.message)}${where}`);
      if (failure.stack !== undefined) writer.debug(failure.stack);
    },
    log(level, message) {
      if (shownLevels.has(level)) writer.line(message);
      else if (level !== 'none') writer.debug(message);
    },
  };
}

function oneLine(text: string): string {
  return text.replace(/\s*\n\s*/g, ' ');
}
