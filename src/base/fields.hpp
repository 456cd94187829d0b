// The fields of a type, named once for everything that goes through them: writing a file, reading it back
// strictly, the messages between ranks, columns of a table. Beside the type stands a template that hands each
// field to a way, in the order of the file:
//
//   struct gpu { int id = 0; std::string name; std::optional<int> numa; std::vector<int> cpus; };
//   void fields(auto& way, gpu& g) {
//     way.needs("id", g.id);                // stands in every file
//     way.may("name", g.name);              // is always written; where it is missing or null the default
//     stays way("numa", g.numa);                  // is written where it says something: not null, "", [] or
//     {} way("cpus", as_cpu_list(g.cpus), 64); // told by another value; so large, or so many, at most
//   }
//
// A field is a number, a text, a word of an enumeration (src/base/words.hpp), a bool, a list, a map from
// text, optional, another type with fields, or one of the forms below. The ways of JSON:
// src/base/json_fields.hpp.
#pragma once

#include <string>
#include <utility>

namespace mgsync {

// In place of fields(), `bare(thing)` gives the one value that stands for a thing. Of a type without a
// default, `unread(const Type*)` gives the value that is read into.

// A list of things that have a `name`: an object of them, each under its name.
template <class List>
struct by_name {
  List& list;
};
template <class List>
by_name(List&) -> by_name<List>;

// A list of things as rows: of each an array of its fields, without their names.
template <class List>
struct as_rows {
  List& list;
};
template <class List>
as_rows(List&) -> as_rows<List>;

// A list of things whose fields `of(way, thing)` hands over, not those of their type.
template <class List, class Fields>
struct each_by {
  List& list;
  Fields of;
};
template <class List, class Fields>
each_by(List&, Fields) -> each_by<List, Fields>;

// A text that is kept to the letter, in several lines if need be; others are read as names, on one line.
struct verbatim {
  std::string& text;
};

// A value that another one tells: `tell(value)` gives that one, and `take(told, place)` the value back, or
// ends in place.expected("what it must be"). What a text tells is given as an optional one: nothing where
// there was no text.
template <class Value, class Tell, class Take>
struct told_as {
  Value& value;
  Tell tell;
  Take take;
};
template <class Value, class Tell, class Take>
told_as(Value&, Tell, Take) -> told_as<Value, Tell, Take>;

// An object that no type stands for: told_by([&](auto& way) { way.needs("t", kind); ... }).
template <class List>
struct told_by {
  List list;
};
template <class List>
told_by(List) -> told_by<List>;

template <class List>
void fields(auto& way, told_by<List>& thing) {
  thing.list(way);
}

}  // namespace mgsync
