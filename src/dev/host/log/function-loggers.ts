import { createFunctionLogger, type FunctionLogger } from './function-logger.js';
import type { LoggerFactory } from './logger-factory.js';

/** Where the invocations of one function get their logger; kept on the function's descriptor, and made anew with it. */
export interface FunctionLoggers {
  /** At the begin of an invocation. */
  begin(invocationId: string): FunctionLogger;
  /** For a line that the worker sends. */
  of(invocationId: string): FunctionLogger;
  end(invocationId: string): void;
}

/** One logger for all invocations. */
export function cachedLoggers(functionName: string, factory: LoggerFactory): FunctionLoggers {
  const logger = createFunctionLogger(functionName, factory);
  return { begin: () => logger, of: () => logger, end: () => {} };
}

/** A logger for each invocation. */
export function loggersPerInvocation(functionName: string, factory: LoggerFactory): FunctionLoggers {
  const running = new Map<string, FunctionLogger>();
  const create = () => createFunctionLogger(functionName, factory);
  return {
    begin(id) {
      const logger = create();
      running.set(id, logger);
      return logger;
    },
    // A function may go on writing after its end.
    of: (id) => running.get(id) ?? create(),
    end: (id) => running.delete(id),
  };
}
