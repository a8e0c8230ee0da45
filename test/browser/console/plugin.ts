console.warn('the first line, which is long enough to need more than one line on a narrow screen: 0123456789')

/** Allows everything. */
export async function before_send(): Promise<null> {
  return null
}

/** Takes every event. */
export async function on_event(): Promise<void> {}

/** Never runs while a test does. */
export async function schedule(): Promise<void> {}

/** Fails, for the page that shows it. */
export async function handler(): Promise<never> {
  throw new Error('the address book has no such person')
}
