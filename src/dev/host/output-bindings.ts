import { hasConnection, missingSetting } from './config/connection-setting.js';
import type { RpcBindingInfo } from './rpc.js';

/** Properties of bindings that name an app setting. */
const settingProperties = ['connection', 'connectionStringSetting'];

/**
 * This runtime runs no output bindings but HTTP. Their settings are checked nevertheless, since Azure would refuse them.
 *
 * @returns a warning for each
 * @throws HostStartError `ESetting`
 */
export function checkOutputs(
  functionName: string,
  bindings: readonly (readonly [string, RpcBindingInfo])[],
  settings: Readonly<Record<string, string>>,
  settingsFile: string,
): string[] {
  const outputs = bindings.filter(
    ([, { type, direction }]) => direction === 'out' && type.toLowerCase() !== 'http',
  );
  return outputs.map(([, binding]) => {
    for (const property of settingProperties) {
      const name = binding[property];
      if (typeof name !== 'string' || name === '' || hasConnection(settings, name)) continue;
      const where = `the ${binding.type} output binding of the function '${functionName}'`;
      throw missingSetting(settings, name, where, settingsFile);
    }
    return `The function ${functionName} has an output binding of type ${binding.type}, which this runtime does not run: what it sets there is dropped.`;
  });
}
