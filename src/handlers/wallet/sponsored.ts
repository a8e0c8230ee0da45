import type { SponsoredContent } from '../../chains/capabilities.ts'
import type { StellarOperation } from '../../chains/stellar/model/operation.ts'
import type { Schemas } from '../../contract/operations.ts'
import { AppError } from '../../errors.ts'
import type { HandlerMap } from '../../http/handler.ts'
import { omitUndefined } from '../../lib/object.ts'
import type { Relayer } from '../../relayers/relayer.ts'
import { showPrice, toTokens } from '../../sponsoring/charge.ts'
import type { Built, Quoted, SponsoringWish } from '../../sponsoring/sponsor.ts'
import { readStellarRequest } from '../read/request.ts'
import type { Service } from '../service.ts'
import { requireRelayer } from '../transactions/transactions.ts'

type Request = Schemas['SponsoredTransactionRequest']

/** The operations that let users pay for fees in tokens. */
export function sponsoredHandlers({
  relayerOf,
  runtimeOf,
  sponsors,
}: Service): Pick<HandlerMap, 'quoteSponsoredTransaction' | 'buildSponsoredTransaction'> {
  return {
    quoteSponsoredTransaction: async ({ path, body }) => {
      const relayer = await requireRelayer(relayerOf, path.relayer_id)
      const { chain } = runtimeOf(relayer)
      const wish = readWish(body, relayer)
      const quoted = await sponsors.quote({ relayer, chain }, wish)
      return {
        data: wish.content.type === 'solana' ? presentSolanaQuote(quoted) : presentStellarQuote(quoted),
      }
    },
    buildSponsoredTransaction: async ({ path, body }) => {
      const relayer = await requireRelayer(relayerOf, path.relayer_id)
      const { chain } = runtimeOf(relayer)
      const wish = readWish(body, relayer)
      const built = await sponsors.build({ relayer, chain }, wish)
      return {
        data: wish.content.type === 'solana' ? presentSolanaBuild(built) : presentStellarBuild(built),
      }
    },
  }
}

/** @throws AppError `wrong_network_type` for the body of another network; EVM is refused later */
function readWish(body: Request, { id, networkType }: Relayer): SponsoringWish {
  const content = readContent(body)
  if (networkType !== 'evm' && content.type !== networkType)
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

function presentStellarQuote({
  charge: { amount, most },
  hasMost,
  price,
  tokenDecimals,
}: Quoted): Schemas['SponsoredStellarQuote'] {
  return {
    fee_in_token: String(amount),
    fee_in_token_ui: toTokens(amount, tokenDecimals),
    conversion_rate: showPrice(price),
    ...(hasMost && { max_fee_in_token: String(most), max_fee_in_token_ui: toTokens(most, tokenDecimals) }),
  }
}

/** Presents a quote as the answer to `feeEstimate` has it. */
function presentSolanaQuote({
  charge: { amount },
  price,
  tokenDecimals,
}: Quoted): Schemas['SponsoredSolanaQuote'] {
  return { estimated_fee: toTokens(amount, tokenDecimals), conversion_rate: showPrice(price) }
}

function presentStellarBuild(built: Built): Schemas['SponsoredStellarBuild'] {
  const { conversion_rate: _, ...fees } = presentStellarQuote(built)
  return omitUndefined({
    ...fees,
    transaction: built.transaction,
    fee_in_stroops: String(built.fee),
    fee_token: built.feeToken,
    valid_until: built.validUntil.toISOString(),
    user_auth_entry: built.userAuthEntry,
  })
}

/** Presents a build as the answer to `prepareTransaction` has it. */
function presentSolanaBuild(built: Built): Schemas['SponsoredSolanaBuild'] {
  return {
    transaction: built.transaction,
    fee_in_spl: String(built.charge.amount),
    fee_in_lamports: String(built.fee),
    fee_token: built.feeToken,
    valid_until_blockheight: Number(built.lastBlockHeight ?? 0n),
  }
}
