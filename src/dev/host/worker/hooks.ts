/** The hooks of a v4 app: run in the order of their registration, each awaited (log hooks excepted). */

export type HookName = 'preInvocation' | 'postInvocation' | 'appStart' | 'appTerminate' | 'log';
export type HookContext = Record<string, unknown>;
type HookCallback = (context: HookContext) => unknown;

const hooks: Record<HookName, HookCallback[]> = {
  preInvocation: [],
  postInvocation: [],
  appStart: [],
  appTerminate: [],
  log: [],
};

export const appHookData: Record<string, unknown> = {};
/** Shared by appStart and appTerminate, not by invocations. */
const appOnlyHookData: Record<string, unknown> = {};

/** @throws RangeError for a name that is not known; the library turns it into advice for log hooks. */
export function registerHook(name: string, callback: HookCallback): () => void {
  if (!Object.hasOwn(hooks, name)) {
    throw Object.assign(new RangeError(`Unrecognized hook "${name}"`), { isAzureFunctionsSystemError: true });
  }
  const list = hooks[name as HookName];
  list.push(callback);
  return () => {
    const index = list.indexOf(callback);
    if (index >= 0) list.splice(index, 1);
  };
}

export function hasHooks(name: HookName): boolean {
  return hooks[name].length > 0;
}

export async function executeHooks(name: HookName, context: HookContext): Promise<void> {
  for (const callback of hooks[name]) await callback(context);
}

export function executeLogHooks(context: HookContext): void {
  for (const callback of hooks.log) callback(context);
}

export function appHookContext(extra: HookContext = {}): HookContext {
  return { hookData: appOnlyHookData, appHookData, ...extra };
}
