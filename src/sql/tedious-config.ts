import type { ConnectionConfiguration } from 'tedious';
import type { ConnectionOptions } from './connection-string/parse.js';

/** The application id under which SqlClient itself asks for tokens when a user's name and password are given. */
const sqlClientApplicationId = '2fd908ad-0664-4344-b9be-cd3e8b574c38';
/** After the ATTENTION, for its acknowledgement; then the connection is destroyed. */
const cancelTimeoutMs = 3_000;
const longestTimerMs = 2_147_483_647;
/** MS-TDS 2.2.6.4; SqlClient takes 32768 and means this. */
const largestPacket = 32_767;

function authenticationOf(options: ConnectionOptions, environment: NodeJS.ProcessEnv) {
  const userName = options.user ?? '';
  const password = options.password ?? '';
  const identity = options.user === undefined ? {} : { clientId: options.user };
  switch (options.authentication) {
    case 'SqlPassword':
      return { type: 'default' as const, options: { userName, password } };
    case 'ActiveDirectoryManagedIdentity':
      return { type: 'azure-active-directory-msi-app-service' as const, options: identity };
    // The default chain holds the workload identity, configured by the environment that Kubernetes provides.
    case 'ActiveDirectoryWorkloadIdentity':
    case 'ActiveDirectoryDefault':
      return { type: 'azure-active-directory-default' as const, options: identity };
    case 'ActiveDirectoryServicePrincipal': {
      const [clientId = '', tenant] = userName.split('@');
      const tenantId = tenant ?? environment['AZURE_TENANT_ID'] ?? '';
      return {
        type: 'azure-active-directory-service-principal-secret' as const,
        options: { clientId, clientSecret: password, tenantId },
      };
    }
    case 'ActiveDirectoryPassword': {
      const clientId = environment['AZURE_CLIENT_ID'] ?? sqlClientApplicationId;
      const tenantId = environment['AZURE_TENANT_ID'] ?? 'organizations';
      return {
        type: 'azure-active-directory-password' as const,
        options: { userName, password, clientId, tenantId },
      };
    }
  }
}

/**
 * The same meaning for tedious, and for mssql, which passes `server`, `authentication` and `options` on.
 *
 * Credentials are named by kind, never as a token, so that each new connection gets a fresh one.
 *
 * @internal
 */
export function toTediousConfig(
  options: ConnectionOptions,
  environment: NodeJS.ProcessEnv = process.env,
): ConnectionConfiguration {
  const encrypt = { optional: false, mandatory: true, strict: 'strict' } as const;
  return {
    server: options.server,
    authentication: authenticationOf(options, environment),
    options: {
      ...(options.port === undefined ? {} : { port: options.port }),
      ...(options.instanceName === undefined ? {} : { instanceName: options.instanceName }),
      ...(options.database === undefined ? {} : { database: options.database }),
      ...(options.workstationId === undefined ? {} : { workstationId: options.workstationId }),
      ...(options.hostNameInCertificate === undefined ? {} : { serverName: options.hostNameInCertificate }),
      ...(options.language === undefined ? {} : { language: options.language }),
      appName: options.applicationName,
      encrypt: encrypt[options.encrypt] as boolean,
      trustServerCertificate: options.trustServerCertificate,
      // tedious takes 0 for no time at all.
      connectTimeout: options.connectTimeoutMs || longestTimerMs,
      // Our own deadlines name their phase; tedious's would end a healthy long stream.
      requestTimeout: 0,
      cancelTimeout: cancelTimeoutMs,
      // Our own retry knows more numbers and the deadlines.
      maxRetriesOnTransientErrors: 0,
      packetSize: Math.min(options.packetSize, largestPacket),
      readOnlyIntent: options.readOnlyIntent,
      multiSubnetFailover: options.multiSubnetFailover,
      useUTC: true,
    },
  };
}
