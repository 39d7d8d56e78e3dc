import { generate } from 'selfsigned';

/** A key and a certificate in PEM, for the loopback names; made at each start, so that no key is ever stored. */
export interface Certificate {
  readonly key: string;
  readonly cert: string;
}

/** GeneralName choices of X.509's subjectAltName (RFC 5280, 4.2.1.6). */
const dnsName = 2;
const ipAddress = 7;

export async function createCertificate(): Promise<Certificate> {
  const { private: key, cert } = await generate([{ name: 'commonName', value: 'localhost' }], {
    // Elliptic: made in milliseconds, and a handshake costs a fraction of RSA's.
    keyType: 'ec',
    algorithm: 'sha256',
    extensions: [
      { name: 'basicConstraints', cA: false, critical: true },
      {
        name: 'subjectAltName',
        altNames: [
          { type: dnsName, value: 'localhost' },
          { type: ipAddress, ip: '127.0.0.1' },
        ],
      },
    ],
  });
  return { key, cert };
}
