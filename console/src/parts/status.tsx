import type { Tone } from './tone.ts'

const TONES: Readonly<Record<string, Tone>> = {
  confirmed: 'good',
  delivered: 'good',
  approved: 'good',
  healthy: 'good',
  mined: 'busy',
  submitted: 'busy',
  sent: 'busy',
  pending: 'busy',
  waiting: 'warn',
  degraded: 'warn',
  canceled: 'idle',
  expired: 'idle',
  withdrawn: 'idle',
  failed: 'bad',
  dead: 'bad',
  refused: 'bad',
  unhealthy: 'bad',
}

/** Shows a state as a word with a dot. The word alone says everything; the colour is for the eye that looks over a table. */
export function Status({
  value,
  tone = TONES[value] ?? 'idle',
}: {
  readonly value: string
  readonly tone?: Tone
}) {
  return <span class={`status ${tone}`}>{value}</span>
}
