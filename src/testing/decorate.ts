/** A backend with some of its verbs replaced. */
import type { Backend } from "../backend/backend.js";

/** By hand: the methods of a class with private fields must be called on the object itself. */
export function decorate(backend: Backend, replaced: Partial<Backend>): Backend {
  return new Proxy(backend, {
    get(target, key) {
      if (Object.hasOwn(replaced, key)) return Reflect.get(replaced, key);
      const value: unknown = Reflect.get(target, key);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}
