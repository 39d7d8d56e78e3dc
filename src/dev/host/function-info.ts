import type { FunctionDescriptor } from './function-descriptor.js';

/** A function, for those who list them. */
export interface FunctionInfo {
  readonly name: string;
  /** `httpTrigger`, `timerTrigger`, ... */
  readonly triggerType: string;
  /** Upper-case; empty unless it is an HTTP function. */
  readonly methods: readonly string[];
  /** With its route's parameters as they are written: `http://127.0.0.1:7071/api/posts/{id}`. Undefined unless it is an HTTP function. */
  readonly url: string | undefined;
  /** Switched off by the app setting `AzureWebJobs.<name>.Disabled`. */
  readonly disabled: boolean;
  /** Why this runtime does not run it; undefined when it does. */
  readonly notRun: string | undefined;
}

export function toFunctionInfo(descriptor: FunctionDescriptor, baseUrl: string): FunctionInfo {
  const { name, triggerType, http, disabled, notRun } = descriptor;
  return {
    name,
    triggerType,
    methods: http?.methods ?? [],
    url: http && `${baseUrl}/${http.template.text}`,
    disabled,
    notRun,
  };
}

/** The list that Core Tools prints at start; without a line end at its end. */
export function formatFunctions(functions: readonly FunctionInfo[]): string {
  const blocks = functions.map((one) => {
    if (one.disabled) return `\t${one.name}: disabled by the app setting AzureWebJobs.${one.name}.Disabled`;
    if (one.notRun !== undefined) return `\t${one.name}: ${one.triggerType}; not run: ${one.notRun}`;
    return `\t${one.name}: [${one.methods.join(',')}] ${one.url}`;
  });
  return ['Functions:', ...blocks].join('\n\n');
}
