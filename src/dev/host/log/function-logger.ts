import type { InvocationFailure } from '../protocol.js';
import type { RpcLogLevel } from '../rpc.js';
import type { LoggerFactory } from './logger-factory.js';

/** What the log says of one function. */
export interface FunctionLogger {
  executing(invocationId: string): void;
  executed(invocationId: string, durationMs: number, failure?: InvocationFailure): void;
  /** A line that the function, or the library on its behalf, wrote. */
  log(level: RpcLogLevel, message: string): void;
}

/** The categories are those of the real host: `Function.<name>`, and `Function.<name>.User` for what the function writes. */
export function createFunctionLogger(functionName: string, factory: LoggerFactory): FunctionLogger {
  const subject = `'Functions.${functionName}'`;
  const host = factory.createLogger(`Function.${functionName}`);
  const user = factory.createLogger(`Function.${functionName}.User`);
  return {
    executing(id) {
      host.log(
        'information',
        `Executing ${subject} (Reason='This function was programmatically called via the host APIs.', Id=${id})`,
      );
    },
    executed(id, durationMs, failure) {
      const took = `Id=${id}, Duration=${Math.round(durationMs)}ms`;
      if (failure === undefined) {
        host.log('information', `Executed ${subject} (Succeeded, ${took})`);
        return;
      }
      const where = failure.at === undefined ? '' : ` at ${failure.at}`;
      host.log('error', `Executed ${subject} (Failed, ${took}) ${oneLine(failure.message)}${where}`);
      if (failure.stack !== undefined) host.log('debug', failure.stack);
    },
    log(level, message) {
      user.log(level, message);
    },
  };
}

function oneLine(text: string): string {
  return text.replace(/\s*\n\s*/g, ' ');
}
