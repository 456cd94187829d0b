// The fields of a type, named once for everything that goes through them: writing a file, reading it back
// strictly, the messages between ranks, columns of a table. Beside the type stands a template that hands each
// field to a way, in the order of the file:
//
//   struct gpu { int id = 0; std::string name; std::optional<int> numa; std::vector<int> cpus; };
//   void fields(auto& way, gpu& g) {
//     way.needs("id", g.id);                    // stands in every file
//     way.may("name", g.name);                  // always written; where missing or null: the default
//     way("numa", g.numa);                      // written unless it is null, "", [] or {}
//     way("cpus", as_cpu_list(g.cpus), 64);     // written as another value; at most so large, or so many
//   }
//
// A field is a number, a text, a word of an enumeration (src/base/enum_words.hpp), a bool, a list, a map from
// text, optional, another type with fields, or one of the forms below. The ways of JSON:
// src/base/json_fields.hpp.
#pragma once

#include <string>
#include <utility>

namespace mgsync {

// A type may have `bare(thing)` in place of fields(): it returns the one value that is written for the thing.
// For a type without a default constructor, `unread(const Type*)` returns the object that is read into.

// A list of things that have a `name`, written as an object with each under its name.
template <class List>
struct by_name {
  List& list;
};
template <class List>
by_name(List&) -> by_name<List>;

// A list of things, each written as an array of its fields without their names.
template <class List>
struct as_rows {
  List& list;
};
template <class List>
as_rows(List&) -> as_rows<List>;

// A list of things whose fields `of(way, thing)` names, in place of the function for their type.
template <class List, class Fields>
struct each_by {
  List& list;
  Fields of;
};
template <class List, class Fields>
each_by(List&, Fields) -> each_by<List, Fields>;

// A text that is kept unchanged and may have several lines; other texts are reduced to one line when read.
struct verbatim {
  std::string& text;
};

// A value that is written as another one: `tell(value)` converts it for writing, and `take(told, place)`
// converts it back or calls place.expected("what it must be"). Where it is written as a text, take gets an
// optional one: nothing where there was no text.
template <class Value, class Tell, class Take>
struct told_as {
  Value& value;
  Tell tell;
  Take take;
};
template <class Value, class Tell, class Take>
told_as(Value&, Tell, Take) -> told_as<Value, Tell, Take>;

// An object whose fields a function names rather than a type: told_by([&](auto& way) { way.needs("t", kind);
// ... }).
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
