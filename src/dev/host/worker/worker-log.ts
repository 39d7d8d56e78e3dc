import type { RpcLogCategory, RpcLogLevel } from '../rpc.js';
import { post } from './channel.js';
import { appHookData, executeLogHooks, hasHooks } from './hooks.js';

export interface InvocationLogContext {
  readonly functionName: string;
  readonly invocationId: string;
  readonly invocationContext: unknown;
  readonly hookData: Record<string, unknown>;
}

/** A log hook may change level and text of what the app writes; what the system writes goes as it is. */
export function workerLog(
  level: RpcLogLevel,
  category: RpcLogCategory,
  message: string,
  invocation?: InvocationLogContext,
): void {
  let sent = { level, message };
  if (hasHooks('log')) {
    const context = {
      hookData: invocation?.hookData ?? {},
      appHookData,
      invocationContext: invocation?.invocationContext,
      level,
      category,
      message,
    };
    try {
      executeLogHooks(context);
      if (category === 'user') sent = { level: context.level, message: context.message };
    } catch {
      // A hook that throws must not take the line with it.
    }
  }
  post({
    type: 'log',
    category,
    functionName: invocation?.functionName,
    invocationId: invocation?.invocationId,
    ...sent,
  });
}
