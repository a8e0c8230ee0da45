import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type AlertKind, decideChanges, type Finding, type OpenAlert } from '../../src/alerts/alert.ts'

const KINDS: readonly AlertKind[] = [
  'balance_low',
  'transaction_stuck',
  'relayer_disabled',
  'endpoint_down',
  'chain_halted',
  'budget_nearly_used',
  'delivery_dead',
]

const keys = fc.record({ kind: fc.constantFrom(...KINDS), subject: fc.constantFrom('a', 'b', 'c') })
const finding = fc
  .record({ key: keys, state: fc.constantFrom('firing', 'unclear', 'over') })
  .map(({ key, state }): Finding => ({ ...key, state, notifications: [], detail: { message: 'It is so.' } }))
const look = fc.uniqueArray(finding, { selector: nameOf })

function nameOf({ kind, subject }: { readonly kind: string; readonly subject: string }): string {
  return `${kind} ${subject}`
}

test('the begins and ends of every subject alternate, and every end and begin has its reason', () => {
  fc.assert(
    fc.property(fc.array(look, { maxLength: 12 }), (looks) => {
      let open: readonly OpenAlert[] = []
      for (const [index, findings] of looks.entries()) {
        const now = new Date(index * 30_000)
        const { begun, ended } = decideChanges({ findings, open, now })
        const before = new Set(open.map(nameOf))
        const found = new Map(findings.map((one) => [nameOf(one), one.state]))
        for (const one of begun) {
          expect(before.has(nameOf(one))).toBe(false)
          expect(found.get(nameOf(one))).toBe('firing')
          expect(one.since).toEqual(now)
        }
        for (const one of ended) {
          expect(before.has(nameOf(one))).toBe(true)
          expect(['over', undefined]).toContain(found.get(nameOf(one)))
          expect(one.resolvedAt).toEqual(now)
          expect(one.detail.message).toMatch(/^[A-Z].*\.$/)
        }
        const over = new Set(ended.map(nameOf))
        open = [...open.filter((one) => !over.has(nameOf(one))), ...begun]
        // What fires now is open, and what is over or gone is not.
        const names = new Set(open.map(nameOf))
        for (const [name, state] of found)
          if (state !== 'unclear') expect(names.has(name)).toBe(state === 'firing')
        for (const name of names) expect(found.has(name)).toBe(true)
      }
    }),
  )
})

test('the same look twice changes nothing', () => {
  fc.assert(
    fc.property(look, (findings) => {
      const { begun } = decideChanges({ findings, open: [], now: new Date(0) })
      expect(decideChanges({ findings, open: begun, now: new Date(1) })).toEqual({ begun: [], ended: [] })
    }),
  )
})
