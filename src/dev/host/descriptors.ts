import type { FunctionDescriptor, HttpTrigger } from './function-descriptor.js';
import { parseRoute, RouteError } from './http/route-template.js';
import type { FunctionLoggers } from './log/function-loggers.js';
import type { LogWriter } from './log/log-writer.js';
import { checkOutputs } from './output-bindings.js';
import type { RegisteredFunction } from './protocol.js';
import type { RpcBindingInfo } from './rpc.js';
import type { SqlInput } from './sql/sql-input.js';
import { HostStartError } from './start-error.js';

export interface DescriptorOptions {
  readonly routePrefix: string;
  readonly settings: Readonly<Record<string, string>>;
  /** For messages. */
  readonly settingsFile: string;
  readonly log: LogWriter;
  readonly loggers: (functionName: string) => FunctionLoggers;
  /** @throws HostStartError */
  readonly sqlInput: (functionName: string, bindingName: string, binding: RpcBindingInfo) => SqlInput;
}

/** learn.microsoft.com: a function's name has letters, digits, - and _, and begins with a letter. */
const functionName = /^[a-z][a-z0-9_-]{0,127}$/i;

/**
 * What the worker registered, checked.
 *
 * @throws HostStartError `EFunction`, `ESetting`, `ENoFunctions`
 */
export function describeFunctions(
  functions: readonly RegisteredFunction[],
  options: DescriptorOptions,
): FunctionDescriptor[] {
  if (functions.length === 0) {
    throw new HostStartError(
      'ENoFunctions',
      'The app registered no function: its entry files were loaded, and none called app.http() or the like. ' +
        'Check that "main" of package.json matches all files that do, and that they import one @azure/functions.',
    );
  }
  checkNames(functions);
  return functions.map((one) => describe(one, options));
}

function checkNames(functions: readonly RegisteredFunction[]): void {
  const seen = new Map<string, RegisteredFunction>();
  for (const one of functions) {
    if (!functionName.test(one.name)) {
      throw new HostStartError(
        'EFunction',
        `'${one.name}' can't be a function's name (in ${one.file}): use letters, digits, - and _, with a letter first.`,
      );
    }
    // The host compares names without case.
    const other = seen.get(one.name.toLowerCase());
    if (other) {
      const where = other.file === one.file ? `twice in ${one.file}` : `in ${other.file} and in ${one.file}`;
      throw new HostStartError(
        'EFunction',
        `Two functions have the name '${one.name}': it is registered ${where}. Azure would run none of the app's functions. ` +
          'Rename one, or delete what an earlier build left behind.',
      );
    }
    seen.set(one.name.toLowerCase(), one);
  }
}

function describe(one: RegisteredFunction, options: DescriptorOptions): FunctionDescriptor {
  const bindings = Object.entries(one.bindings);
  const [triggerName, trigger] = bindings.find(([, { type }]) => /trigger$/i.test(type)) ?? [];
  if (triggerName === undefined || trigger === undefined) {
    throw new HostStartError('EFunction', `The function '${one.name}' (in ${one.file}) has no trigger.`);
  }
  const isHttp = trigger.type.toLowerCase() === 'httptrigger';
  const disabled = isDisabled(one.name, options.settings);
  const inputs = bindings.filter(([name, { direction }]) => direction === 'in' && name !== triggerName);
  const unknownInput = inputs.find(([, { type }]) => type.toLowerCase() !== 'sql');
  const notRun = !isHttp
    ? `this runtime does not run ${trigger.type} functions`
    : unknownInput && `this runtime has no input binding of type ${unknownInput[1].type}`;
  const runs = !disabled && notRun === undefined;
  if (runs) {
    const warnings = checkOutputs(one.name, bindings, options.settings, options.settingsFile);
    for (const warning of warnings) options.log.line(`Warning: ${warning}`);
  }
  return {
    name: one.name,
    triggerType: trigger.type,
    triggerName,
    loggers: options.loggers(one.name),
    http: isHttp ? httpTrigger(one, trigger, options.routePrefix) : undefined,
    sqlInputs: runs ? inputs.map(([name, binding]) => options.sqlInput(one.name, name, binding)) : [],
    disabled,
    notRun,
  };
}

function httpTrigger(one: RegisteredFunction, trigger: RpcBindingInfo, prefix: string): HttpTrigger {
  const route = typeof trigger['route'] === 'string' ? trigger['route'] : one.name;
  const methods = Array.isArray(trigger['methods']) ? trigger['methods'].map(String) : ['GET', 'POST'];
  try {
    const text = [prefix, route.replace(/^\/+|\/+$/g, '')].filter((part) => part !== '').join('/');
    return { methods: methods.map((method) => method.toUpperCase()), template: parseRoute(text) };
  } catch (error) {
    if (!(error instanceof RouteError)) throw error;
    throw new HostStartError(
      'EFunction',
      `The route '${route}' of the function '${one.name}' (in ${one.file}) is wrong: ${error.message}.`,
      error,
    );
  }
}

/** `AzureWebJobs.<name>.Disabled`, or with __ for the dots where a shell can't name such a variable. */
function isDisabled(name: string, settings: Readonly<Record<string, string>>): boolean {
  const names = [`azurewebjobs.${name}.disabled`, `azurewebjobs__${name}__disabled`].map((one) =>
    one.toLowerCase(),
  );
  return Object.entries(settings).some(
    ([setting, value]) => names.includes(setting.toLowerCase()) && /^(?:true|1)$/i.test(value.trim()),
  );
}
