/** The environment and the Node.js flags of the worker, as Core Tools gives them. */
export function workerEnvironment(
  settings: Readonly<Record<string, string>>,
  appDir: string,
  url: string,
): { env: Record<string, string>; execArgv: string[] } {
  const flags =
    settings['languageWorkers__node__arguments'] ?? settings['languageWorkers:node:arguments'] ?? '';
  return {
    env: {
      FUNCTIONS_WORKER_RUNTIME: 'node',
      ...settings,
      AZURE_FUNCTIONS_ENVIRONMENT: 'Development',
      AzureWebJobsScriptRoot: appDir,
      WEBSITE_HOSTNAME: new URL(url).host,
    },
    execArgv: flags.split(/\s+/).filter((flag) => flag !== ''),
  };
}
