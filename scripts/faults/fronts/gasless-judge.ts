import type { Hex } from 'viem'
import type { Included, Order } from './gasless-chain.ts'
import type { Bounds } from './judge.ts'

/** The answer that a caller got. */
export type Answer =
  | { readonly said: 'status'; readonly status: number; readonly hash?: string; readonly message?: string }
  | { readonly said: 'refused'; readonly code: number; readonly message: string }
  /** Nothing, a fault of the service, or that it takes longer. */
  | { readonly said: 'unknown'; readonly message: string }

/** A request, all that was said about it, and who asked. */
export interface Judged {
  readonly order: Order
  /** Another request of the user has its nonce, or comes before it. */
  readonly competes: boolean
  /** It is not what the user has signed, or nothing that a user may have. */
  readonly isForged: boolean
  /** Only callers without an API key asked for it. */
  readonly isOfStrangers: boolean
  /** It was asked for by its content, and by a name as well. */
  readonly hasTwoNames: boolean
  /** The acts of the user and of strangers that can make it fail. */
  readonly acts: number
  /**
   * The answer to the only one who asked during the history; undefined if several asked, or if there was no
   * answer.
   */
  readonly told: Answer | undefined
  /** True if the relayer had executed it when everything was at rest, before anybody asked again. */
  readonly madeAtRest: boolean
  /** Everything that was said, and at last twice what everybody was told who asked again. */
  readonly answers: readonly Answer[]
  /** The transactions of successes that were told while no block had them. */
  readonly unproved: readonly string[]
}

/** A history with its end. */
export interface Evidence {
  readonly requests: readonly Judged[]
  readonly included: readonly Included[]
  /** The numbers that the contracts have counted for each user. */
  readonly counts: ReadonlyMap<Hex, number>
  /** Forwarders and EntryPoints. */
  readonly listed: readonly Hex[]
  /** The fees that the budget of the relayer has counted. */
  readonly spentFees: bigint
  readonly bounds: Bounds
  /** The most requests of all callers without a key. */
  readonly openRequests: number
  readonly maxGas: number
  readonly maxFee: bigint
}

/** A limit is reached. */
const RATE_LIMIT = 4203

/** True for an answer that no later one may contradict. */
export function isFinal(answer: Answer): boolean {
  if (answer.said === 'status') return ![100, 110].includes(answer.status)
  return answer.said === 'refused'
}

/** Returns the transactions that have what was signed in their data. */
export function sentFor({ parts }: Pick<Order, 'parts'>, included: readonly Included[]): readonly Included[] {
  return included.filter(({ input }) => parts.every(({ mark }) => input.includes(mark.slice(2))))
}

/** True if a transaction did what all users of a request have signed. */
export function executes({ counted }: Included, { parts }: Pick<Order, 'parts'>): boolean {
  return parts.every(({ user }) => counted.includes(user))
}

/** Compares what was said, and what it cost, with the chain. Returns what is wrong. Pure. */
export function judgeGasless(evidence: Evidence): string[] {
  const { requests } = evidence
  return [
    ...requests.flatMap((request) =>
      answersOf(request, evidence).map((what) => `the request of ${nameOf(request)} ${what}`),
    ),
    ...countsOf(evidence),
    ...transactionsOf(evidence),
    ...lossOf(evidence),
  ]
}

function nameOf({ order: { parts, kind, isHostile } }: Judged): string {
  return `${parts.map(({ user }) => user).join(' and ')} (${isHostile ? 'hostile ' : ''}${kind})`
}

function answersOf(request: Judged, { included }: Evidence): string[] {
  const { order, answers, unproved, isForged, competes, acts, told, madeAtRest, hasTwoNames } = request
  const [before, last] = [answers.at(-2), answers.at(-1)]
  const text = JSON.stringify(last)
  const successes = answers.filter((each) => each.said === 'status' && each.status === 200)
  const ours = sentFor(order, included).filter(({ isOurs }) => isOurs)
  const made = ours.filter((each) => executes(each, order))
  const wrong: string[] = []
  if (isForged)
    return [
      ...(successes.length > 0 ? ['was told success for what its user has not signed'] : []),
      ...(ours.length > 0 ? [`was sent in ${ours[0]?.hash}, and its user has not signed it`] : []),
    ]
  if (unproved.length > 0) wrong.push(`was told success in ${unproved[0]} before a block had it`)
  if (ours.length > 1) wrong.push(`was sent in ${ours.map(({ hash }) => hash).join(' and ')}`)
  const others = successes.filter(
    (each) => each.said === 'status' && !made.some(({ hash }) => hash === each.hash),
  )
  if (others.length > 0)
    wrong.push(`was told ${JSON.stringify(others[0])}, and was executed in ${made[0]?.hash ?? 'nothing'}`)
  const isTold = last?.said === 'status' && last.status === 200
  // A user who changes his delegate in the same block may never be told what it did, and never that it did
  // nothing.
  const isAccount = order.kind === 'account' || order.kind === 'operation'
  const mayBeOpen = isAccount && acts > 0 && isOpenFor(last)
  if (made.length > 0 && !isTold && !mayBeOpen && !hasTwoNames)
    wrong.push(`was executed in ${made[0]?.hash}, and is told ${text}`)
  if (last === undefined || (!isFinal(last) && !mayBeOpen))
    wrong.push(`has no answer when everything is at rest: ${text}`)
  const sent = ours[0]
  if (sent !== undefined && made.length === 0 && last?.said === 'status' && last.status === 400)
    wrong.push(`was sent in ${sent.hash}, and is told ${text}`)
  if (before?.said === 'status' && JSON.stringify(before) !== text && isFinal(before))
    wrong.push(`was told ${JSON.stringify(before)}, and then ${text}`)
  if (told !== undefined && isNo(told) && madeAtRest)
    wrong.push(`was told ${JSON.stringify(told)}, and then the relayer made it`)
  const isInOrder = !order.isHostile && acts === 0 && !competes && !hasTwoNames
  const mayBeLimited =
    last?.said === 'refused' && last.code === RATE_LIMIT && (order.kind !== 'listed' || request.isOfStrangers)
  if (isInOrder && !isTold && !mayBeLimited) wrong.push(`is in order, and is told ${text}`)
  return wrong
}

/** True for what is included, and of which nothing proves what it did. */
function isOpenFor(answer: Answer | undefined): boolean {
  return answer?.said === 'status' && answer.status === 110 && answer.message !== undefined
}

/** True for an answer after which nobody asks again. */
function isNo(answer: Answer): boolean {
  return answer.said === 'refused' || (answer.said === 'status' && [400, 500].includes(answer.status))
}

/** The contracts have counted what the transactions say, and nothing else. */
function countsOf({ requests, included, counts }: Evidence): string[] {
  const users = new Set(requests.flatMap(({ order: { parts } }) => parts.map(({ user }) => user)))
  return [...users].flatMap((user) => {
    const counted = included.flatMap((each) => each.counted).filter((each) => each === user).length
    return counts.get(user) === counted
      ? []
      : [`${user} has the count ${counts.get(user)}, and the blocks have ${counted} of his events`]
  })
}

function transactionsOf({ requests, included, listed, spentFees, maxGas }: Evidence): string[] {
  const wrong: string[] = []
  const ours = included.filter(({ isOurs }) => isOurs)
  const users = new Set(requests.flatMap(({ order: { parts } }) => parts.map(({ user }) => user)))
  for (const { hash, to, input, gasLimit } of ours) {
    if (input !== '0x' && !listed.includes(to) && !users.has(to))
      wrong.push(`${hash} calls ${to}, which is neither listed nor a user`)
    if (gasLimit > maxGas) wrong.push(`${hash} has a gas limit of ${gasLimit}`)
  }
  const fees = ours.reduce((sum, { fee }) => sum + fee, 0n)
  if (fees !== spentFees) wrong.push(`the chain took fees of ${fees}, and the budget counted ${spentFees}`)
  return wrong
}

/** Returns what the relayer has lost beyond the bounds: transactions that did not do what was signed. */
function lossOf({ requests, included, bounds, openRequests, maxFee }: Evidence): string[] {
  const wrong: string[] = []
  const failures = requests.flatMap((request) =>
    sentFor(request.order, included)
      .filter((each) => each.isOurs && !executes(each, request.order))
      .flatMap((each) =>
        request.order.parts
          .filter(({ user }) => !each.counted.includes(user))
          .map(({ user }) => ({ request, user, ...each })),
      ),
  )
  for (const { hash, fee } of failures) if (fee > maxFee) wrong.push(`${hash} failed and cost ${fee}`)
  for (const [user, same] of Map.groupBy(failures, (each) => each.user)) {
    const ofUser = requests.filter(({ order }) => order.parts.some((part) => part.user === user))
    const mayFail = ofUser.some(({ order, competes }) => order.isHostile || competes)
    const acts = ofUser.reduce((sum, each) => sum + each.acts, 0)
    const most = mayFail ? bounds.payer : Math.min(acts, bounds.payer)
    if (same.length > most)
      wrong.push(`${user} made ${same.length} requests fail at the relayer's cost; ${most} are allowed`)
  }
  for (const isOfStrangers of [true, false]) {
    const uncertain = failures.filter(
      ({ request }) => request.order.kind !== 'listed' && request.isOfStrangers === isOfStrangers,
    )
    const most = bounds.all + bounds.open
    if (uncertain.length > most)
      wrong.push(
        `${uncertain.length} requests that strangers' code decides about failed; ${most} are allowed`,
      )
  }
  const open = requests.filter(
    ({ order, isOfStrangers }) => isOfStrangers && sentFor(order, included).some(({ isOurs }) => isOurs),
  )
  if (open.length > openRequests)
    wrong.push(`${open.length} requests of callers without a key were sent; ${openRequests} are allowed`)
  return wrong
}
