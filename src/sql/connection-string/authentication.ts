import { SqlStreamError } from '../errors.js';

/** How a login proves itself; those that SqlClient knows and a Node process can do. */
export type Authentication =
  | 'SqlPassword'
  | 'ActiveDirectoryDefault'
  | 'ActiveDirectoryManagedIdentity'
  | 'ActiveDirectoryPassword'
  | 'ActiveDirectoryServicePrincipal'
  | 'ActiveDirectoryWorkloadIdentity';

const known: Record<string, Authentication> = {
  sqlpassword: 'SqlPassword',
  activedirectorydefault: 'ActiveDirectoryDefault',
  activedirectorymanagedidentity: 'ActiveDirectoryManagedIdentity',
  activedirectorymsi: 'ActiveDirectoryManagedIdentity',
  activedirectorypassword: 'ActiveDirectoryPassword',
  activedirectoryserviceprincipal: 'ActiveDirectoryServicePrincipal',
  activedirectoryworkloadidentity: 'ActiveDirectoryWorkloadIdentity',
};
const needsUserAndPassword: readonly Authentication[] = [
  'SqlPassword',
  'ActiveDirectoryPassword',
  'ActiveDirectoryServicePrincipal',
];

function fail(message: string, subject: string): never {
  throw new SqlStreamError('EConnectionString', message, { phase: 'setup', subject });
}

/** `Active Directory Managed Identity`, in any letter case, and the spelling without blanks. */
export function parseAuthentication(value: string): Authentication {
  const authentication = known[value.toLowerCase().replaceAll(' ', '')];
  if (authentication === undefined) {
    fail(
      `Authentication '${value}' can't be used by a function app. Use one of: Active Directory Default, Active Directory Managed ` +
        'Identity, Active Directory Workload Identity, Active Directory Service Principal, Active Directory Password, Sql Password.',
      'Authentication',
    );
  }
  return authentication;
}

/** Checks that the credentials are there before a connection is tried. */
export function checkCredentials(
  authentication: Authentication,
  user: string | undefined,
  password: string | undefined,
  environment: NodeJS.ProcessEnv,
): void {
  if (!needsUserAndPassword.includes(authentication)) {
    if (password) fail(`Password can't be combined with the Authentication given.`, 'Password');
    return;
  }
  if (!user) fail('User ID is missing or empty.', 'User ID');
  if (password === undefined) fail('Password is missing.', 'Password');
  const needsTenant = authentication === 'ActiveDirectoryServicePrincipal';
  if (needsTenant && !user.includes('@') && !environment['AZURE_TENANT_ID']) {
    fail(
      'Active Directory Service Principal needs the tenant: set the app setting AZURE_TENANT_ID, or write User ID=clientId@tenantId.',
      'User ID',
    );
  }
}
