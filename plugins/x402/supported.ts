import { Unavailable, type World } from '../shared/host.ts'
import type { NetworkSettings, Settings } from './config.ts'
import { readProblem, type Settler, settlerOn } from './scheme.ts'
import {
  DELEGATED,
  EIP2612_SPONSORING,
  ERC20_SPONSORING,
  NETWORKS_OF_VERSION_1,
  PAYMENT_IDENTIFIER,
  type Scheme,
} from './wire.ts'

/** The longest that one network may keep the answer about the others. */
const SUPPORTED_MS = 5_000

/** The schemes that can be settled on a network now, or the reason why none can. */
type State = { readonly settler: Settler } | { readonly reason: string }

interface Offer {
  readonly network: NetworkSettings
  readonly scheme: Scheme
  readonly state: State
  /** The state of payments by delegation; absent if none are served. */
  readonly delegated?: State
}

/**
 * Answers `GET /supported`: what is settled on which networks, and from which addresses. A network on which
 * nothing can be settled now is named with the reason, and touches no other.
 */
export async function supported(settings: Settings, world: World): Promise<object> {
  const all = await Promise.all([...settings.networks.values()].map((each) => offersOn(each, world)))
  const offers = all.flat()
  const signers: Record<string, string[]> = {}
  for (const { network, state, delegated } of offers) {
    if (!('settler' in state)) continue
    const pattern = `${network.family}:*`
    const delegate = delegated && 'settler' in delegated ? [delegated.settler.address] : []
    signers[pattern] = [...new Set([...(signers[pattern] ?? []), state.settler.address, ...delegate])]
  }
  const unavailable = offers.flatMap(unavailableOf)
  return {
    kinds: offers.flatMap(kindsOf),
    extensions: [
      PAYMENT_IDENTIFIER,
      EIP2612_SPONSORING,
      ...(offers.some(paysApprovals) ? [ERC20_SPONSORING] : []),
    ],
    signers,
    ...(unavailable.length > 0 && { unavailable }),
  }
}

function unavailableOf({ network: { network, approvalGas }, scheme, state, delegated }: Offer) {
  const of = { network, ...(scheme !== 'exact' && { scheme }) }
  if ('reason' in state) return [{ ...of, reason: state.reason }]
  const reason = scheme === 'batch-settlement' ? undefined : approvalGas && state.settler.approvalProblem
  return [
    ...(delegated && 'reason' in delegated
      ? [{ ...of, assetTransferMethod: DELEGATED, reason: delegated.reason }]
      : []),
    ...(reason === undefined ? [] : [{ ...of, extension: ERC20_SPONSORING, reason }]),
  ]
}

function paysApprovals({ network, state }: Offer): boolean {
  return (
    network.approvalGas !== undefined && 'settler' in state && state.settler.approvalProblem === undefined
  )
}

async function offersOn(network: NetworkSettings, world: World): Promise<readonly Offer[]> {
  const exact = await stateOf(network, world)
  if (network.family !== 'eip155') return [{ network, scheme: 'exact', state: exact }]
  const delegated = await delegatedOn(network, exact, world)
  const first: Offer = { network, scheme: 'exact', state: exact, ...(delegated && { delegated }) }
  return [...(await withUpto(network, first, world)), ...channelsOn(network, exact)]
}

async function delegatedOn(network: NetworkSettings, exact: State, world: World): Promise<State | undefined> {
  if (network.delegations === undefined) return undefined
  const { relayerId } = network.delegations
  const state = relayerId === network.relayerId ? exact : await stateOf({ ...network, relayerId }, world)
  const problem = 'settler' in state ? state.settler.delegationsProblem : undefined
  return problem === undefined ? state : { reason: problem }
}

function channelsOn(network: NetworkSettings, exact: State): readonly Offer[] {
  if (!network.batchSettlement) return []
  const problem = 'settler' in exact ? exact.settler.channelsProblem : undefined
  const state = problem === undefined ? exact : { reason: problem }
  return [{ network, scheme: 'batch-settlement', state }]
}

/** `upto` is told as unavailable only where the operator named a relayer for it. */
async function withUpto(network: NetworkSettings, first: Offer, world: World): Promise<readonly Offer[]> {
  const exact = first.state
  const hasOwn = network.uptoRelayerId !== network.relayerId
  const state = hasOwn ? await stateOf({ ...network, relayerId: network.uptoRelayerId }, world) : exact
  const problem = 'settler' in state ? state.settler.uptoProblem : undefined
  if (problem === undefined && (hasOwn || 'settler' in state))
    return [first, { network, scheme: 'upto', state }]
  return hasOwn && problem !== undefined
    ? [first, { network, scheme: 'upto', state: { reason: problem } }]
    : [first]
}

function stateOf(network: NetworkSettings, world: World): Promise<State> {
  const late = world
    .sleep(SUPPORTED_MS)
    .then(() => ({ reason: `Nothing answers within ${SUPPORTED_MS / 1000} s.` }))
  return Promise.race([readState(network, world), late])
}

async function readState(network: NetworkSettings, world: World): Promise<State> {
  try {
    const reason = await readProblem(network, world)
    return reason === undefined ? { settler: await settlerOn(network, world) } : { reason }
  } catch (error) {
    if (error instanceof Unavailable) return { reason: `The network does not answer: ${error.message}` }
    // Faults of the configuration are the operator's business.
    console.error(error)
    return { reason: 'It is not configured correctly. The log has the reason.' }
  }
}

function kindsOf({ network: { network, family, walletPrograms }, scheme, state, delegated }: Offer) {
  if (!('settler' in state)) return []
  const { address } = state.settler
  const extra = {
    eip155: scheme === 'upto' ? { facilitatorAddress: address } : delegatesOf(delegated),
    solana: {
      feePayer: address,
      ...(walletPrograms.size > 0 && { features: { smartWalletSupported: true } }),
    },
    stellar: { areFeesSponsored: true },
  }[family]
  const kind = { scheme, ...(extra && { extra }) }
  const names = Object.entries(NETWORKS_OF_VERSION_1).filter(
    ([, name]) => name === network && scheme === 'exact',
  )
  // Delegations came with version 2.
  const older = family === 'eip155' ? { scheme } : kind
  return [
    { x402Version: 2, network, ...kind },
    ...names.map(([name]) => ({ x402Version: 1, network: name, ...older })),
  ]
}

/** Where resource servers look for the accounts that a payer may name as the delegate or redeemer. */
function delegatesOf(delegated: State | undefined) {
  return delegated && 'settler' in delegated
    ? { facilitatorAddresses: [delegated.settler.address] }
    : undefined
}
