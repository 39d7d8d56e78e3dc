import type { RouteTemplate } from './http/route-template.js';
import type { FunctionLoggers } from './log/function-loggers.js';
import type { SqlInput } from './sql/sql-input.js';

/** A function as the host knows it; made anew each time that a worker has loaded the app. */
export interface FunctionDescriptor {
  readonly name: string;
  readonly triggerType: string;
  /** The name of the trigger's binding. */
  readonly triggerName: string;
  readonly loggers: FunctionLoggers;
  /** Undefined unless it is an HTTP function. */
  readonly http: HttpTrigger | undefined;
  readonly sqlInputs: readonly SqlInput[];
  readonly disabled: boolean;
  /** Why the host does not run it; undefined when it does. */
  readonly notRun: string | undefined;
}

export interface HttpTrigger {
  /** Upper-case. */
  readonly methods: readonly string[];
  /** With its prefix, without slashes at its ends. */
  readonly template: RouteTemplate;
}
