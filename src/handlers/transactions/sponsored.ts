import type { SponsoredContent } from '../../chains/capabilities.ts'
import type { StellarOperation } from '../../chains/stellar/model/operation.ts'
import type { Schemas } from '../../contract/operations.ts'
import { AppError } from '../../errors.ts'
import type { HandlerMap } from '../../http/handler.ts'
import { omitUndefined } from '../../lib/object.ts'
import type { Relayer } from '../../relayers/relayer.ts'
import type { SponsoringWish } from '../../sponsoring/sponsor.ts'
import type { SponsoredForm } from '../codecs/codec.ts'
import { CODECS } from '../codecs/codecs.ts'
import { readStellarRequest } from '../codecs/stellar.ts'
import type { RelayerParts, TransactionParts } from '../service.ts'
import { requireRelayer } from './transactions.ts'

type Request = Schemas['SponsoredTransactionRequest']

/** The operations that let users pay for fees in tokens. */
export function sponsoredHandlers({
  relayerOf,
  runtimeOf,
  sponsors,
}: RelayerParts & TransactionParts): Pick<
  HandlerMap,
  'quoteSponsoredTransaction' | 'buildSponsoredTransaction'
> {
  return {
    quoteSponsoredTransaction: async ({ path, body }) => {
      const relayer = await requireRelayer(relayerOf, path.relayer_id)
      const { chain } = runtimeOf(relayer)
      const wish = readWish(body, relayer)
      const quoted = await sponsors.quote({ relayer, chain }, wish)
      return { data: formOf(wish).presentQuote(quoted) }
    },
    buildSponsoredTransaction: async ({ path, body }) => {
      const relayer = await requireRelayer(relayerOf, path.relayer_id)
      const { chain } = runtimeOf(relayer)
      const wish = readWish(body, relayer)
      const built = await sponsors.build({ relayer, chain }, wish)
      return { data: formOf(wish).presentBuild(built) }
    },
  }
}

/**
 * @throws AppError `wrong_network_type` for the body of another network. Networks where users do not pay are
 * refused later.
 */
function readWish(body: Request, { id, networkType }: Relayer): SponsoringWish {
  const content = readContent(body)
  if (CODECS[networkType].sponsored !== undefined && content.type !== networkType)
    throw new AppError(
      'wrong_network_type',
      `The body is for a relayer of type ${content.type}; relayer ${id} is on a network of type ${networkType}.`,
    )
  return { content, feeToken: body.fee_token }
}

function readContent(body: Request): SponsoredContent {
  if ('transaction' in body) return { type: 'solana', transaction: body.transaction }
  const { transaction_xdr, operations, source_account } = body
  // The same reader as that of a transaction to send, so both accept the same operations.
  const read = readStellarRequest({ network: '-', operations: operations ?? null, max_fee: null })
  return omitUndefined({
    type: 'stellar' as const,
    transactionXdr: transaction_xdr ?? undefined,
    operations: read.operations as readonly StellarOperation[] | undefined,
    sourceAccount: source_account ?? undefined,
  })
}

function formOf({ content }: SponsoringWish): SponsoredForm {
  const { sponsored } = CODECS[content.type]
  if (sponsored === undefined) throw new Error(`users pay for no fees on ${content.type}`)
  return sponsored
}
