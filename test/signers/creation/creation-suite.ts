import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { type FaultAnswer, type FaultProxy, PASS } from '../../../simulators/key-services/fault-proxy.ts'
import type { Database, Db } from '../../../src/database/db.ts'
import type { HttpClient } from '../../../src/lib/http/http-client.ts'
import { systemClock } from '../../../src/lib/time.ts'
import { createSealer } from '../../../src/security/secrets.ts'
import { createKeyCreator, type KeyRequest } from '../../../src/signers/creation/create-key.ts'
import { findCreation } from '../../../src/signers/creation/creation-store.ts'
import { solanaAddress } from '../../../src/signers/ed25519.ts'
import { createKeyring } from '../../../src/signers/keyring.ts'
import { createSignerManager } from '../../../src/signers/manage.ts'
import { evmAddress } from '../../../src/signers/secp256k1.ts'
import { createAdjustableClock } from '../../support/clock.ts'
import { emptyDatabase, openTestDatabase } from '../../support/database.ts'
import { KEY_SERVICES } from '../../support/key-services/connections.ts'
import { ACTOR } from '../../support/samples.ts'
import { signEvm } from '../conformance/conformance.ts'

/** A key service that creates keys, for the tests. */
export interface CreatingService {
  readonly proxy: FaultProxy
  /** Default: the service is asked at its own url. */
  readonly http?: HttpClient
  /** The places of keys, by curve. Secrets of logins are in them. */
  readonly config: object
  readonly curves: readonly KeyRequest['curve'][]
  /** The number of keys that the service ever created. */
  readonly count: () => Promise<number> | number
  /** Denies and allows the creation of keys. Default: one answer is replaced. */
  readonly setCreating?: (isAllowed: boolean) => void
  readonly stop: () => Promise<void>
}

interface CreationSuite {
  readonly type: KeyRequest['type']
  readonly start: () => Promise<CreatingService>
  /** The answer of the service to a call that creates a key and is not allowed, and what this service says then. */
  readonly denied: FaultAnswer
  readonly deniedSentence: RegExp
  /** The number of requests, logins included, before the one that creates. */
  readonly before: number
}

const sealer = createSealer(randomBytes(32))

/** The time after which a lost call has surely arrived, in ms. */
const LATER_MS = 61_000

/** The failure of everything after the death of a process. */
class Killed extends Error {}

/** Lets so many statements reach the database, and none after them. */
function dyingAfter(db: Db, statements: number): Db {
  let left = statements
  return db.withPlugin({
    transformQuery: ({ node }) => {
      left -= 1
      if (left < 0) throw new Killed('the process was killed')
      return node
    },
    transformResult: async ({ result }) => result,
  })
}

/** A database with a creator of keys, for tests of one service. */
export async function setUpCreator(http: HttpClient) {
  const database = await openTestDatabase()
  onTestFinished(() => database.close())
  const clock = createAdjustableClock()
  const connection = { http, clock: systemClock, timeoutMs: 10_000, concurrency: 8 }
  const creator = createKeyCreator({ db: database.db, clock, sealer, connection })
  return {
    clock,
    stored: (signerId: string) => findCreation(database.db, signerId),
    create: (request: KeyRequest) => creator.create(request, ACTOR, new AbortController().signal),
  }
}

/** Checks that a key service creates one key for one request, whatever happens in between. */
export function describeCreation({ type, start, denied, deniedSentence, before }: CreationSuite): void {
  describe(`a key that ${type} creates`, () => {
    let service: CreatingService
    let database: Database
    let number = 0

    beforeAll(async () => {
      ;[service, database] = await Promise.all([start(), openTestDatabase()])
    }, 300_000)
    beforeEach(async () => {
      await emptyDatabase(database)
      service.proxy.behave(PASS)
    })
    afterAll(async () => {
      await service.stop()
      await database.close()
    })

    /** A caller with a request of its own. */
    function caller(curve = service.curves[0] ?? 'secp256k1') {
      number += 1
      const clock = createAdjustableClock()
      const connection = {
        ...{ http: service.http ?? KEY_SERVICES.requested.http, clock: systemClock },
        ...{ timeoutMs: 10_000, concurrency: 8 },
      }
      const request = { signerId: `Treasury_${number}`, type, curve, config: service.config }
      const creatorOf = (db: Db) => createKeyCreator({ db, clock, sealer, connection })
      const create = (db = database.db) => creatorOf(db).create(request, ACTOR, new AbortController().signal)
      const stored = () => findCreation(database.db, request.signerId)
      const keyring = createKeyring({ db: database.db, sealer, configured: new Map(), connection })
      const manager = createSignerManager({ db: database.db, sealer, connection, usersOf: async () => [] })
      /** Lets the signer sign, and returns its account. */
      const account = async () => {
        const key = await keyring.find(request.signerId)
        const payload = new Uint8Array(32).fill(number)
        if (key?.evm) {
          await signEvm(key.evm, payload)
          return evmAddress(key.evm.publicKey)
        }
        expect(await key?.solana?.sign(payload)).toHaveLength(64)
        return key?.solana && solanaAddress(key.solana.publicKey)
      }
      return { clock, request, create, stored, account, manager, creator: creatorOf(database.db) }
    }

    const counted = async (work: () => Promise<unknown>) => {
      const first = await service.count()
      await work()
      return (await service.count()) - first
    }

    test('is usable, has the address of its answer, and is the same for the same request', async () => {
      for (const curve of service.curves) {
        const { create, account, request } = caller(curve)
        const created = await counted(async () => {
          const first = await create()
          expect(first).toMatchObject({ state: 'usable', signerId: request.signerId, curve })
          expect(first.keyName).toMatch(/^relayer-treasury-\d+-[0-9a-f]{16}$/)
          expect(first.addresses?.evm ?? first.addresses?.solana).toBe(await account())
          expect(await create()).toEqual(first)
        })
        expect(created).toBe(1)
      }
    })

    test('is one key, whichever request to the service or answer of it is lost', async () => {
      const probe = caller()
      const first = service.proxy.count()
      await probe.create()
      const requests = service.proxy.count() - first
      expect(requests).toBeGreaterThan(before)
      for (let passing = 0; passing < requests; passing += 1)
        for (const lost of ['request', 'answer'] as const) {
          const { create, clock, stored, account } = caller()
          const created = await counted(async () => {
            void service.proxy.loseAfter(passing, lost)
            const failure = await create().then(
              () => undefined,
              (error: unknown) => error as { readonly code: string; readonly detail: string },
            )
            const seen = await stored()
            if (failure !== undefined) {
              expect(failure.code, `${lost} ${passing}: ${failure.detail}`).toBe('signer_unavailable')
              expect(seen).toMatchObject({ problem: failure.detail })
            }
            if (seen?.state === 'requested') clock.advance(LATER_MS)
            const { addresses } = await create()
            expect(addresses?.evm ?? addresses?.solana).toBe(await account())
          })
          expect(created, `${lost} ${passing}`).toBe(1)
        }
    }, 120_000)

    test('is one key, whichever statement of the database is the last one of a process', async () => {
      for (let statements = 0; ; statements += 1) {
        const { create, clock, stored, account } = caller()
        let isKilled = false
        const created = await counted(async () => {
          await create(dyingAfter(database.db, statements)).catch((error: unknown) => {
            if (!(error instanceof Killed)) throw error
            isKilled = true
          })
          if ((await stored())?.state === 'requested') clock.advance(LATER_MS)
          const { addresses } = await create()
          expect(addresses?.evm ?? addresses?.solana).toBe(await account())
        })
        expect(created, `${statements} statements`).toBe(1)
        if (!isKilled) return
      }
    }, 120_000)

    test('is one key for two requests at the same time', async () => {
      const { create, clock, account } = caller()
      const created = await counted(async () => {
        const [one, other] = await Promise.allSettled([create(), create()])
        expect([one?.status, other?.status]).toContain('fulfilled')
        clock.advance(LATER_MS)
        await create()
        expect(await account()).toBeDefined()
      })
      expect(created).toBe(1)
    })

    test('that is not allowed costs nothing and leaves nothing, and the refusal names the permission', async () => {
      const { create, stored } = caller()
      const created = await counted(async () => {
        if (service.setCreating === undefined) service.proxy.answerAfter(before, denied)
        service.setCreating?.(false)
        await expect(create()).rejects.toMatchObject({
          code: 'signer_refused',
          detail: expect.stringMatching(deniedSentence),
        })
        expect(await stored()).toBeUndefined()
        service.setCreating?.(true)
      })
      expect(created).toBe(0)
      expect(await create()).toMatchObject({ state: 'usable' })
    })

    test('of a service that is away stays an intent, with what to do', async () => {
      const { create, clock, stored } = caller()
      const created = await counted(async () => {
        service.proxy.behave({ kind: 'refuse' })
        onTestFinished(() => service.proxy.behave(PASS))
        await expect(create()).rejects.toMatchObject({ code: 'signer_unavailable' })
        expect(await stored()).toMatchObject({
          state: 'requested',
          problem: expect.stringMatching(/Repeat|cannot/),
        })
        service.proxy.behave(PASS)
        clock.advance(LATER_MS)
        expect(await create()).toMatchObject({ state: 'usable' })
      })
      expect(created).toBe(1)
    })

    test('comes back with the same account after its signer was deleted', async () => {
      const { create, account, manager, request } = caller()
      const created = await counted(async () => {
        const { addresses } = await create()
        await manager.delete(request.signerId, ACTOR)
        await expect(
          manager.create({ id: request.signerId, type: 'generated' }, ACTOR),
        ).rejects.toMatchObject({ code: 'already_exists' })
        expect((await create()).addresses).toEqual(addresses)
        expect(addresses?.evm ?? addresses?.solana).toBe(await account())
      })
      expect(created).toBe(1)
    })

    test('is forgotten without a call, and its signer stays', async () => {
      const { create, creator, stored, account, request } = caller()
      await create()
      const requests = service.proxy.count()
      await creator.forget(request.signerId, ACTOR)
      expect(service.proxy.count()).toBe(requests)
      expect(await stored()).toBeUndefined()
      expect(await account()).toBeDefined()
      await expect(create()).rejects.toMatchObject({ code: 'already_exists' })
      await expect(creator.forget(request.signerId, ACTOR)).rejects.toMatchObject({
        code: 'signer_not_found',
      })
    })
  })
}
