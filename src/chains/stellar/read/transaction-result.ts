import {
  type OperationResult,
  TransactionResult,
  type TransactionResultCodeName,
} from '@stellar/stellar-sdk/xdr'

/** A `TransactionResult`, XDR in base64; undefined for what is none. */
export function readResult(base64: unknown): TransactionResult | undefined {
  if (typeof base64 !== 'string') return undefined
  try {
    return TransactionResult.fromXdr(base64, 'base64')
  } catch {
    return undefined // The SDK says it with an exception: not XDR, or not of this kind.
  }
}

/** What the network said of the transaction itself: of the one inside, where a fee bump failed because of it. */
export function codeOf({ result }: TransactionResult): TransactionResultCodeName {
  return outcomeOf(result).type
}

/** A result in words: the code, and of each operation that came to nothing its place and its own code. */
export function describeResult({ result }: TransactionResult): string {
  const outcome = outcomeOf(result)
  if (outcome.type !== 'txFailed') return spelled(outcome.type)
  const failed = outcome.results
    .map((one, index) => ({ at: index, code: operationCode(one) }))
    .filter(({ code }) => !code.endsWith('Success'))
    .map(({ at, code }) => `operations[${at}] ${spelled(code)}`)
  return [spelled(outcome.type), ...failed].join(', ')
}

function outcomeOf(result: TransactionResult['result']) {
  const wrapped = result.type === 'txFeeBumpInnerFailed' || result.type === 'txFeeBumpInnerSuccess'
  return wrapped ? result.innerResultPair.result.result : result
}

/** The code of the operation's own kind (`paymentUnderfunded`), or why it was not tried (`opBadAuth`). */
function operationCode(result: OperationResult): string {
  return result.type === 'opInner' ? result.tr.value.type : result.type
}

/** `paymentNoTrust` as `payment_no_trust`: the names of the protocol's XDR, so that they can be looked up. */
function spelled(code: string): string {
  return code.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}
