/** Certificate errors of Node's TLS that a development server with a certificate of its own gives. */
const certificateCodes = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
]);
const certificateHint =
  ' The server has a certificate that no known authority has signed: for a development server, set TrustServerCertificate=true in the connection string.';

/** What the driver throws, as far as it is read here. */
interface DriverError {
  readonly message: string;
  readonly code?: string;
  readonly number?: number;
  readonly state?: number;
  readonly class?: number;
  readonly lineNumber?: number;
  readonly procName?: string;
  readonly precedingErrors?: readonly DriverError[];
  readonly originalError?: DriverError;
  readonly cause?: unknown;
}

/** A sql input binding failed. The message is for the log: all errors of the server, with their numbers. */
export class SqlInputError extends Error {
  override readonly name = 'SqlInputError';
  readonly code: string | undefined;
  readonly number: number | undefined;

  constructor(cause: unknown) {
    const error = cause as DriverError;
    const all = [...(error.precedingErrors ?? []), error].map(describe);
    super(`SQL: ${all.join('; ')}${hasCertificateError(error) ? certificateHint : ''}`, { cause });
    this.code = error.code;
    this.number = error.number;
  }
}

function describe({ message, number, lineNumber, procName }: DriverError): string {
  if (number === undefined) return message;
  const procedure = procName ? `${procName}, ` : '';
  return `${message} (error ${number}, ${procedure}line ${lineNumber ?? 0})`;
}

function hasCertificateError(error: DriverError | undefined): boolean {
  if (error === undefined || error === null) return false;
  if (error.code !== undefined && certificateCodes.has(error.code)) return true;
  return (
    hasCertificateError(error.originalError) || hasCertificateError(error.cause as DriverError | undefined)
  );
}
