import { inspect } from 'node:util'

/** A text that must not be printed. Only `reveal` returns it; logs, JSON and error messages show `[secret]`. */
export interface Secret {
  reveal(): string
}

const SHOWN = '[secret]'

/** Hides `text` in a closure, where no inspection of the object finds it. */
export function createSecret(text: string): Secret {
  const shown = () => SHOWN
  return Object.freeze({ reveal: () => text, toString: shown, toJSON: shown, [inspect.custom]: shown })
}
