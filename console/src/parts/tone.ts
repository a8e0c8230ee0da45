/** How a state should make a reader feel. `busy` is neither good nor bad: the service is at work. */
export type Tone = 'good' | 'busy' | 'warn' | 'bad' | 'idle'
