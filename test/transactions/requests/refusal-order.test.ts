import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Prepared } from '../../../src/chains/attempt.ts'
import type { EvmDraft, EvmRequest } from '../../../src/chains/evm/content.ts'
import { AppError } from '../../../src/errors.ts'
import type { EvmRelayer } from '../../../src/relayers/relayer.ts'
import { saveRelayer } from '../../../src/relayers/store.ts'
import type { SpendingRules } from '../../../src/spending/rules.ts'
import { createAcceptor } from '../../../src/transactions/accept/accept.ts'
import { createAccountChooser } from '../../../src/transactions/accept/choose-account.ts'
import type { TransactionsContext } from '../../../src/transactions/model/runtime.ts'
import { createReplacer } from '../../../src/transactions/replace/replace.ts'
import { dryReplace, drySend } from '../../../src/transactions/requests/dry-run.ts'
import { workAccount } from '../../../src/transactions/submit/account-step.ts'
import { FROM, requestOf, TO } from '../../chains/evm/build.ts'
import { ACTOR } from '../../support/samples.ts'
import { acceptorOf, type Fixture, insert, newTransaction, openFixture } from '../fixture.ts'
import { chainOf, createStubChain, type StubChain } from '../stub-chain.ts'

/** Everything that a request can be refused for. */
interface World {
  readonly stub: StubChain
  context: TransactionsContext
  relayer: EvmRelayer
  request: EvmRequest
  rules: SpendingRules
  /** The transaction that a replacement changes. */
  readonly id: string
  maxQueueSeconds?: number
  isKeyReused?: true
}

const refused = (code: 'execution_reverted' | 'invalid_request', detail: string) => ({
  kind: 'refused' as const,
  refusal: { code, detail },
})

/** Each reason for a refusal: what makes it so, and the words that tell it. */
const REASONS = {
  'a key that was used for other content': {
    words: 'Idempotency-Key',
    make: (world: World) => {
      world.isKeyReused = true
    },
  },
  'a queue that is too long': {
    words: 'max_queue_seconds',
    make: (world: World) => {
      world.maxQueueSeconds = 1
    },
  },
  'a paused relayer': {
    words: 'paused',
    make: (world: World) => {
      world.relayer = { ...world.relayer, paused: true }
    },
  },
  'a receiver that the relayer does not pay': {
    words: 'whitelist_receivers',
    make: (world: World) => {
      const policies = { ...world.relayer.policies, whitelistReceivers: [FROM] }
      world.relayer = { ...world.relayer, policies }
    },
  },
  'a shape that the chain refuses': {
    words: 'shape on purpose',
    make: ({ stub }: World) => {
      stub.override.check = () => ({ code: 'invalid_request', detail: 'shape on purpose' })
    },
  },
  'a time that has passed': {
    words: 'valid_until',
    make: (world: World) => {
      world.request = { ...world.request, validUntil: new Date(0) }
    },
  },
  'a rule about the content': {
    words: 'receiver',
    make: (world: World) => {
      world.rules = { ...world.rules, receivers: [] }
    },
  },
  'a plugin that refuses': {
    words: 'asked on purpose',
    make: (world: World) => {
      const beforeSend = async () => [
        { rule: 'plugin', allowed: false, detail: 'asked on purpose', subject: 'plugin:one' },
      ]
      world.context = { ...world.context, beforeSend }
    },
  },
  'a simulation that reverts': {
    words: 'reverted on purpose',
    make: ({ stub }: World) => {
      stub.override.prepare = async () => refused('execution_reverted', 'reverted on purpose')
      stub.override.replace = async () => refused('execution_reverted', 'reverted on purpose')
    },
  },
  'content that the chain includes': {
    words: 'included on purpose',
    make: ({ stub }: World) => {
      const prepare = async (): Promise<{ kind: 'ok'; value: Prepared<EvmDraft> }> => {
        const content = { type: 'evm', to: TO, value: 1n, data: '0x', gasLimit: 21_000n } as const
        const draft = { ...content, fees: { kind: 'legacy', gasPrice: 1n } } as EvmDraft
        return { kind: 'ok', value: { draft, logs: [], included: 'included on purpose' } }
      }
      stub.override.prepare = prepare
      stub.override.replace = prepare
    },
  },
  'a nonce that the service assigns': {
    words: 'are assigned by the service',
    make: ({ stub, relayer }: World) => {
      const nonce = { address: relayer.address, nonce: 1n }
      stub.override = { ...stub.override, externalSigning: { nonceOf: () => nonce } }
    },
  },
  'too little money': {
    words: 'balance',
    make: ({ stub }: World) => {
      stub.balance = { kind: 'ok', value: 0n }
    },
  },
  'a budget that is used up': {
    words: 'per transaction',
    make: (world: World) => {
      world.rules = { ...world.rules, limits: [{ per: 'transaction', asset: 'native', value: 0n }] }
    },
  },
} as const

type Reason = keyof typeof REASONS

const SENDING: readonly Reason[] = [
  'a key that was used for other content',
  'a queue that is too long',
  'a paused relayer',
  'a receiver that the relayer does not pay',
  'a shape that the chain refuses',
  'a time that has passed',
  'a rule about the content',
  'a simulation that reverts',
  'content that the chain includes',
  'a plugin that refuses',
  'a nonce that the service assigns',
  'too little money',
  'a budget that is used up',
]

const REPLACING: readonly Reason[] = [
  'a paused relayer',
  'a receiver that the relayer does not pay',
  'a shape that the chain refuses',
  'a time that has passed',
  'a nonce that the service assigns',
  'a rule about the content',
  'a plugin that refuses',
  'a simulation that reverts',
  'content that the chain includes',
  'too little money',
  'a budget that is used up',
]

/** The transaction that is there before the request. */
type Before = 'nothing' | 'pending' | 'signed'

/** Reasons of which a request can have one at most. */
const EXCLUSIVE: readonly Reason[] = ['a simulation that reverts', 'content that the chain includes']

describe('the refusal of a request that has two reasons', () => {
  let fixture: Fixture
  beforeAll(async () => {
    fixture = await openFixture()
  })
  afterAll(() => fixture.close())

  const OPERATIONS = {
    'a send': { order: SENDING, before: 'nothing', refusalOf: send },
    'a send in a batch': {
      order: SENDING.filter((reason) => reason !== 'a queue that is too long'),
      before: 'nothing',
      refusalOf: sendInBatch,
    },
    'the dry run of a send': { order: SENDING, before: 'nothing', refusalOf: drySending },
    'a replacement of what is not signed': { order: REPLACING, before: 'pending', refusalOf: replace },
    'a replacement of what is signed': { order: REPLACING, before: 'signed', refusalOf: replace },
    'the dry run of a replacement': { order: REPLACING, before: 'signed', refusalOf: dryReplacing },
  } as const

  const idempotencyKey = { key: 'one', maker: 'root', fingerprint: 'this' }

  function actorIn({ rules }: World) {
    return { ...ACTOR, keyId: 'shop', ...(Object.keys(rules).length > 0 && { rules }) }
  }

  async function send(world: World): Promise<unknown> {
    const { context, relayer, request, maxQueueSeconds } = world
    return acceptorOf(context)(relayer, request, actorIn(world), {
      ...(world.isKeyReused && { idempotencyKey }),
      maxQueueSeconds,
    })
  }

  async function sendInBatch(world: World): Promise<unknown> {
    const { context, relayer, request, isKeyReused } = world
    const items = [{ request, idempotencyKey: isKeyReused && idempotencyKey }]
    const acceptor = createAcceptor(context, createAccountChooser(context))
    return acceptor.sendBatch(relayer, { items, actor: actorIn(world) })
  }

  async function drySending(world: World): Promise<unknown> {
    const { context, relayer, request, maxQueueSeconds, isKeyReused } = world
    const run = await drySend(context, relayer, {
      request,
      actor: actorIn(world),
      idempotencyKey: isKeyReused && idempotencyKey,
      maxQueueSeconds,
    })
    throw run.refusal
  }

  async function replace(world: World): Promise<unknown> {
    const { context, relayer, request, id } = world
    return createReplacer(context).replace({ relayer, id, request, actor: actorIn(world) })
  }

  async function dryReplacing(world: World): Promise<unknown> {
    const { context, relayer, request, id } = world
    const run = await dryReplace(context, { relayer, id, request, actor: actorIn(world) })
    throw run.refusal
  }

  async function worldWith(reasons: readonly Reason[], before: Before): Promise<World> {
    const stub = createStubChain()
    const chain = chainOf(stub)
    stub.override.replace = async (request, _attempts, account) => {
      const prepared = await chain.prepare(request, account)
      if (prepared.kind === 'setup') throw new Error('nothing needs a setup here')
      return prepared
    }
    const { relayer, runtime } = await fixture.addAccount({ chain })
    const { context } = fixture
    const request = requestOf({ value: 5n })
    const account = { relayer, clock: fixture.clock, runtime }
    const id = randomUUID()
    if (before !== 'nothing') await insert(context, newTransaction(account, { id }))
    if (before === 'signed') await workAccount(context, relayer.id)
    const world: World = { stub, context, relayer, request, rules: {}, id }
    if (reasons.includes('a key that was used for other content'))
      await acceptorOf(context)(relayer, request, ACTOR, {
        idempotencyKey: { ...idempotencyKey, fingerprint: 'other' },
      })
    if (reasons.includes('a queue that is too long'))
      await insert(context, newTransaction(account, { createdAt: new Date(fixture.clock.now() - 60_000) }))
    for (const reason of reasons) REASONS[reason].make(world)
    await fixture.database.db.transaction().execute((tx) => saveRelayer(tx, world.relayer))
    return world
  }

  for (const [operation, { order, before, refusalOf }] of Object.entries(OPERATIONS)) {
    const pairs = order.flatMap((first, index) =>
      order
        .slice(index + 1)
        .filter((second) => !(EXCLUSIVE.includes(first) && EXCLUSIVE.includes(second)))
        .map((second) => [first, second] as const),
    )
    test.each(pairs)(`${operation}: %s comes before %s`, async (first, second) => {
      const error = await refusalOf(await worldWith([first, second], before)).then(
        () => undefined,
        (thrown: unknown) => thrown,
      )
      expect(error).toBeInstanceOf(AppError)
      expect((error as AppError).detail).toContain(REASONS[first].words)
    })

    test.each(order)(`${operation} is refused for %s`, async (reason) => {
      const error = await refusalOf(await worldWith([reason], before)).catch((thrown: unknown) => thrown)
      expect(error).toBeInstanceOf(AppError)
      expect((error as AppError).detail).toContain(REASONS[reason].words)
    })
  }
})
