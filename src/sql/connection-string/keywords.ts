/** The keywords of Microsoft.Data.SqlClient 6 (SqlConnectionStringBuilder), and their synonyms. */
export const keywords = {
  'Application Intent': ['applicationintent'],
  'Application Name': ['app'],
  AttachDbFilename: ['extended properties', 'initial file name'],
  'Attestation Protocol': ['attestationprotocol'],
  Authentication: [],
  'Column Encryption Setting': ['columnencryptionsetting'],
  'Command Timeout': ['commandtimeout'],
  'Connect Retry Count': ['connectretrycount'],
  'Connect Retry Interval': ['connectretryinterval'],
  'Connect Timeout': ['connection timeout', 'timeout', 'connecttimeout'],
  'Context Connection': [],
  'Current Language': ['language'],
  'Data Source': ['addr', 'address', 'network address', 'server', 'datasource'],
  'Enclave Attestation Url': ['enclaveattestationurl'],
  Encrypt: [],
  Enlist: [],
  'Failover Partner': ['failoverpartner'],
  'Failover Partner SPN': ['failoverpartnerspn'],
  'Host Name In Certificate': ['hostnameincertificate'],
  'Initial Catalog': ['database', 'initialcatalog'],
  'Integrated Security': ['trusted_connection', 'integratedsecurity'],
  'IP Address Preference': ['ipaddresspreference'],
  'Load Balance Timeout': ['connection lifetime', 'loadbalancetimeout'],
  'Max Pool Size': ['maxpoolsize'],
  'Min Pool Size': ['minpoolsize'],
  'Multiple Active Result Sets': ['multipleactiveresultsets'],
  'Multi Subnet Failover': ['multisubnetfailover'],
  'Packet Size': ['packetsize'],
  Password: ['pwd'],
  'Persist Security Info': ['persistsecurityinfo'],
  'Pool Blocking Period': ['poolblockingperiod'],
  Pooling: [],
  Replication: [],
  'Server Certificate': ['servercertificate'],
  'Server SPN': ['serverspn'],
  'Transaction Binding': ['transactionbinding'],
  'Trust Server Certificate': ['trustservercertificate'],
  'Type System Version': [],
  'User ID': ['uid', 'user', 'userid'],
  'User Instance': [],
  'Workstation ID': ['wsid', 'workstationid'],
} as const satisfies Record<string, readonly string[]>;

export type Keyword = keyof typeof keywords;

const bySpelling = new Map<string, Keyword>();
for (const [keyword, synonyms] of Object.entries(keywords)) {
  for (const spelling of [keyword.toLowerCase(), ...synonyms]) bySpelling.set(spelling, keyword as Keyword);
}

/** The keyword that a spelling, in lower case, stands for. */
export function keywordOf(spelling: string): Keyword | undefined {
  return bySpelling.get(spelling);
}
