import type { Finding } from './diagnosis.ts'
import type { DiagnosisFacts } from './facts.ts'

/** Returns true while only private endpoints may get the bytes. */
export function isOnlyPrivate({ isPrivate, madePublicAt }: DiagnosisFacts['transaction']): boolean {
  return isPrivate === true && madePublicAt === undefined
}

/** Finds a private transaction that is broadcast nowhere, because its network has no private endpoint any more. */
export function noPrivateEndpoint({
  transaction,
  relayer,
  privateEndpoints,
}: DiagnosisFacts): Finding | undefined {
  if (!isInFlight(transaction) || !isOnlyPrivate(transaction) || privateEndpoints !== undefined)
    return undefined
  return {
    code: 'no_private_endpoint',
    message: `It is private, and network ${relayer.network} has no private_rpc_urls at present, so nobody gets its bytes. Give the network some (updateNetwork), or replace or cancel it; it is never broadcast publicly meanwhile.`,
  }
}

/** Finds a transaction that only private endpoints have, and tells until when. */
export function keptPrivate(facts: DiagnosisFacts): Finding | undefined {
  const { transaction, privateEndpoints = [] } = facts
  if (transaction.status !== 'submitted' || !isOnlyPrivate(transaction) || privateEndpoints.length === 0)
    return undefined
  const hosts = [...new Set(privateEndpoints.map(({ host }) => host))].join(', ')
  return {
    code: 'kept_private',
    message: `Only the private endpoints (${hosts}) get its bytes, so ordinary nodes do not know it before a block includes it. ${untilWhen(facts)}${whatItPays(facts)}`,
  }
}

function whatItPays({ raise }: DiagnosisFacts): string {
  if (raise?.kind !== 'wait' || raise.code !== 'builders_choice') return ''
  return ' It offers what the market asks for, so its fee is not raised: the builders behind these endpoints decide.'
}

/** Finds a private transaction that ordinary endpoints get as well. */
export function madePublic({ transaction }: DiagnosisFacts): Finding | undefined {
  const { madePublicAt, privateSinceBlock } = transaction
  if (!isInFlight(transaction) || madePublicAt === undefined) return undefined
  return {
    code: 'made_public',
    message: `It was private from block ${privateSinceBlock}, and no block included it in time; since ${madePublicAt.toISOString()} the ordinary endpoints get it as well.`,
  }
}

function untilWhen({ transaction: { privateSinceBlock }, relayer, head }: DiagnosisFacts): string {
  const blocks = relayer.networkType === 'evm' ? relayer.policies.privateFallbackBlocks : undefined
  if (blocks === undefined) return 'It stays so: the relayer has no private_fallback_blocks.'
  if (privateSinceBlock === undefined) return 'The ordinary endpoints have not told the newest block yet.'
  const newest = head === undefined ? '' : `; the newest is ${head.number}`
  return `From block ${privateSinceBlock + BigInt(blocks)} on, the ordinary endpoints get it as well (private_fallback_blocks)${newest}.`
}

function isInFlight({ status }: DiagnosisFacts['transaction']): boolean {
  return status === 'sent' || status === 'submitted'
}
