import type { RpcLogLevel } from '../rpc.js';
import { isLogged, type LogFilter, selectFilter } from './log-filters.js';
import type { LogWriter } from './log-writer.js';

export interface Logger {
  log(level: RpcLogLevel, message: string): void;
}

/** A place to which lines go. */
export interface LoggerProvider {
  createLogger(category: string): Logger;
}

/** Lines as Core Tools shows them. */
export class ConsoleProvider implements LoggerProvider {
  readonly #writer: LogWriter;

  constructor(writer: LogWriter) {
    this.#writer = writer;
  }

  createLogger(): Logger {
    return { log: (_level, message) => this.#writer.line(message) };
  }
}

export interface LoggerFactoryOptions {
  readonly providers: readonly LoggerProvider[];
  /** `logging.logLevel` of host.json. */
  readonly filters: readonly LogFilter[];
  /** Shows all that no filter with a category hides, whatever `default` says. */
  readonly verbose: boolean;
}

/**
 * Makes the logger of a category: a logger of each provider, behind the filter that is chosen for the category. It keeps none: who
 * wants to save the making keeps the logger.
 */
export class LoggerFactory {
  readonly #options: LoggerFactoryOptions;

  constructor(options: LoggerFactoryOptions) {
    this.#options = options;
  }

  createLogger(category: string): Logger {
    const least = this.#least(category);
    const loggers = this.#options.providers.map((provider) => provider.createLogger(category));
    return {
      log(level, message) {
        if (!isLogged(level, least)) return;
        for (const logger of loggers) logger.log(level, message);
      },
    };
  }

  #least(category: string): RpcLogLevel {
    const { filters, verbose } = this.#options;
    const filter = selectFilter(filters, category);
    if (verbose && filter?.category === undefined) return 'trace';
    return filter?.level ?? 'information';
  }
}
