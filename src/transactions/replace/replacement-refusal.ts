import type { ChainRequest } from '../../chains/request.ts'
import { AppError } from '../../errors.ts'
import { inactive } from '../../relayers/policy.ts'
import type { Relayer } from '../../relayers/relayer.ts'
import { checkRequest } from '../accept/accept.ts'
import type { TransactionsContext } from '../model/runtime.ts'
import type { Transaction, TransactionWithAttempts } from '../model/transaction.ts'
import { isReplaceable } from '../model/transitions.ts'
import { refuseExternallySigned } from './refuse-externally-signed.ts'
import type { Change } from './replacement.ts'

/** Returns the reason for which a change is refused before any node is asked, and before the rules for spending are. */
export function replacementRefusal(
  context: TransactionsContext,
  change: Change,
  item: TransactionWithAttempts,
): AppError | undefined {
  const { relayer, request } = change
  return (
    notReplaceable(item.transaction, request) ??
    (request && checkRequest(context, relayer, request)) ??
    (request && startRefusal(request, item)) ??
    refuseExternallySigned(context, change, item) ??
    (request ? undefined : cancelRefusal(relayer, item))
  )
}

/** Others wait for a nonce that is assigned, and signed bytes cannot be taken back, so the new content cannot wait for a later time. */
function startRefusal(
  { validFrom }: ChainRequest,
  { transaction, attempts }: TransactionWithAttempts,
): AppError | undefined {
  if (validFrom === undefined || (transaction.nonce === undefined && attempts.length === 0)) return undefined
  return new AppError(
    'invalid_request',
    'valid_from: not expected here, because the transaction has a nonce or signed bytes already and can no longer wait; leave it out.',
  )
}

/**
 * A transaction without a nonce and without signed bytes ends without any signature, and so does one that waits for a decision of an operator, so
 * a paused or disabled relayer can cancel them.
 */
function cancelRefusal(
  relayer: Relayer,
  { transaction, attempts }: TransactionWithAttempts,
): AppError | undefined {
  const { nonce, undecidedSince } = transaction
  const signs = undecidedSince === undefined && (nonce !== undefined || attempts.length > 0)
  return signs ? inactive(relayer) : undefined
}

function notReplaceable(
  { status, awaitsApproval }: Transaction,
  request: ChainRequest | undefined,
): AppError | undefined {
  if (awaitsApproval && request !== undefined)
    return new AppError(
      'transaction_not_replaceable',
      'The transaction waits for an approval, and its content is what somebody decides about; cancel it, and send the new content.',
    )
  if (isReplaceable(status)) return undefined
  return new AppError(
    'transaction_not_replaceable',
    `The transaction is ${status}; only pending, sent and submitted ones can be replaced or canceled.`,
  )
}
