import { RemoteFault } from '../remote/remote-key.ts'

/** KMS asks for fewer calls in these ways. */
const THROTTLED = new Set([
  'ThrottlingException',
  'Throttling',
  'TooManyRequestsException',
  'LimitExceededException',
])

/** The sentences complete "AWS KMS key … ". They name the error of KMS, so that its documentation can be found. */
const REFUSED: Readonly<Record<string, string>> = {
  AccessDeniedException: 'is denied: allow kms:GetPublicKey and kms:Sign on it',
  DisabledException: 'is disabled: enable it',
  IncorrectKeyException: 'is another key than the one named',
  InvalidArnException: 'has an ARN that KMS does not accept',
  InvalidKeyUsageException: 'is not a key for signing',
  KMSInvalidStateException: 'cannot be used in its state: it may be pending deletion or import',
  NotFoundException: 'does not exist in this account and region',
  UnsupportedOperationException: 'cannot sign in this way',
  ValidationException: 'cannot sign in this way',
  // The credentials are wrong, not the key.
  IncompleteSignature: 'cannot be asked: the AWS credentials are incomplete',
  InvalidClientTokenId: 'cannot be asked: the AWS access key does not exist',
  InvalidSignatureException: 'cannot be asked: the AWS secret key is wrong, or the clock of this machine',
  MissingAuthenticationTokenException: 'cannot be asked: there are no AWS credentials',
  OptInRequired: 'cannot be asked: the AWS account has no KMS in this region',
  UnrecognizedClientException: 'cannot be asked: the AWS access key does not exist',
}

/** Translates an error of the SDK. Its own message can contain ARNs of users, so only the name goes on; the rest stays as the cause. */
export function toRemoteFault(error: unknown): RemoteFault {
  if (error instanceof RemoteFault) return error
  const name = error instanceof Error ? error.name : 'unknown error'
  if (THROTTLED.has(name))
    return new RemoteFault('throttled', `gets too many calls (${name})`, { cause: error })
  const refusal = REFUSED[name]
  if (refusal !== undefined) return new RemoteFault('refused', `${refusal} (${name})`, { cause: error })
  // Expired sessions and silent credential sources heal by themselves.
  return new RemoteFault('unavailable', `cannot be reached (${name})`, { cause: error })
}
